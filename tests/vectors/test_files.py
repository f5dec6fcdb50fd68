"""Files in every form: there and back, told apart by what is in them; a broken one is read or refused."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foresay.errors import UserError
from foresay.vectors.spelling import Spelling
from foresay.vectors.word_vectors import WordVectors

WORDS = ["the", "été", "日本", "C++", "</s>"]
MATRIX = np.array([[0.1, -2, 3e-8], [1, 0, -0.0], [7e30, 1 / 3, -1e-30], [5, 6, 7], [-0.25, 8, 1]], np.float32)
NAMES = ["v.txt", "v.vec", "v.glove.txt", "v.bin", "v.safetensors"]
PACKED = ["v.txt.gz", "v.vec.gz", "v.glove.txt.gz", "v.bin.gz"]


@pytest.fixture(scope="module", autouse=True)
def _numba(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Loads the compiler, whose memory is not the reader's."""
    path = tmp_path_factory.mktemp("numba") / "v.txt"
    made().save(path)
    WordVectors.load(path)


def made() -> WordVectors:
    return WordVectors(WORDS, MATRIX, counts=[50, 40, 3, 2, 1])


@pytest.mark.parametrize("name", NAMES + PACKED)
def test_there_and_back(name: str, tmp_path: Path) -> None:
    made().save(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    again = WordVectors.load(tmp_path / name)
    assert again.words == WORDS and again.matrix.dtype == np.float32 and np.array_equal(again.matrix, MATRIX)
    assert (again.counts is not None) == (name == "v.safetensors")
    few = WordVectors.load(str(tmp_path / name), 2)
    assert few.words == WORDS[:2] and np.array_equal(few.matrix, MATRIX[:2])
    assert WordVectors.load(tmp_path / name, 99).words == WORDS


@pytest.mark.parametrize("name", NAMES + PACKED)
def test_the_form_is_in_the_contents(name: str, tmp_path: Path) -> None:
    made().save(tmp_path / name)
    (tmp_path / name).rename(tmp_path / "vectors")
    again = WordVectors.load(tmp_path / "vectors")
    assert again.words == WORDS and np.array_equal(again.matrix, MATRIX)


@pytest.mark.parametrize("name", ["v.bin", "v.bin.gz", "vectors"])
@pytest.mark.parametrize("rows", [[b"0\n\0["], [b"0\n2[", b"1\n\0?"], [b"0\n2[\0\0\0\0", b"1 2\n\0\0\0?"]])
def test_float32_that_begins_like_a_line_of_figures(name: str, rows: list[bytes]) -> None:
    matrix = np.stack([np.frombuffer(row, "<f4") for row in rows])
    WordVectors([str(row) for row in range(len(rows))], matrix).save(name, "word2vec-binary")
    assert np.array_equal(WordVectors.load(name).matrix, matrix)


@pytest.mark.parametrize("rows", [[b"0\n2["], [b"0\n2[", b"1\n.?"]])
def test_a_name_tells_where_the_contents_leave_a_doubt(rows: list[bytes]) -> None:
    matrix = np.stack([np.frombuffer(row, "<f4") for row in rows])
    WordVectors([str(row) for row in range(len(rows))], matrix).save("v.bin")
    assert np.array_equal(WordVectors.load("v.bin").matrix, matrix)
    Path("v.bin").rename("v.txt")
    with pytest.raises(UserError, match="numbers"):
        WordVectors.load("v.txt")


@pytest.mark.parametrize(("name", "row"), [("v.bin", b"2 3 4"), ("vectors", b"2 3 4"), ("vectors", b"2 3")])
def test_figures_whatever_the_name(name: str, row: bytes) -> None:
    Path(name).write_bytes(b"2 2\n0 1 2\n1 " + row[2:] + b"\n")
    if row == b"2 3 4":
        assert WordVectors.load(name).matrix.tolist() == [[1, 2], [3, 4]]
    else:
        with pytest.raises(UserError, match="line 3: '1' has 1 of 2 numbers"):
            WordVectors.load(name)


@pytest.mark.parametrize("name", PACKED)
def test_the_same_vectors_give_the_same_bytes(name: str) -> None:
    made().save(name)
    before = Path(name).read_bytes()
    made().save(name)
    assert Path(name).read_bytes() == before and before.startswith(b"\x1f\x8b")


@pytest.mark.parametrize(
    ("form", "begins"),
    [
        ("word2vec", b"5 3\nthe 0.1"),
        ("glove", b"the 0.1"),
        ("word2vec-binary", b"5 3\nthe \xcd\xcc\xcc\x3d"),
        ("safetensors", b""),
    ],
)
def test_a_form_that_is_asked_for(form: str, begins: bytes) -> None:
    made().save("vectors.dat", form)
    assert Path("vectors.dat").read_bytes().startswith(begins)
    assert WordVectors.load("vectors.dat").words == WORDS


def test_a_spelling_is_kept_where_it_can_be() -> None:
    table = np.random.default_rng(1).normal(size=(20, 3)).astype(np.float32)
    vectors = WordVectors(WORDS, MATRIX, spelling=Spelling(2, 5, table))
    vectors.save("v.safetensors")
    again = WordVectors.load("v.safetensors", 1)
    assert np.array_equal(again["unseen"], vectors["unseen"]) and again.counts is None


def test_what_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no form has the name \*.npy; allowed: .glove.txt, .txt"):
        made().save("v.npy")
    with pytest.raises(UserError, match=r"form='word2vek'; allowed: word2vec,.*did you mean 'word2vec'"):
        made().save("v.txt", "word2vek")
    with pytest.raises(UserError, match="safetensors is not packed"):
        made().save("v.safetensors.gz")
    with pytest.raises(UserError, match="none is no folder; make it first"):
        made().save("none/v.txt")
    blank = WordVectors(["new york"], [[1]])
    for name in ("v.txt", "v.bin", "v.glove.txt"):
        with pytest.raises(UserError, match=r"cannot hold the word 'new york', which is empty or has blanks; save as"):
            blank.save(name)
    assert not list(tmp_path.iterdir())
    blank.save("v.safetensors")
    assert WordVectors.load("v.safetensors").words == ["new york"]


def test_a_failure_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made().save("v.txt")
    before = Path("v.txt").read_bytes()
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        made().save("v.txt")
    assert Path("v.txt").read_bytes() == before and len(list(tmp_path.iterdir())) == 1


FOREIGN = {
    "nothing": (b"", "is empty"),
    "a pickle": (b"\x80\x04\x95\x10", "is a pickle, as gensim saves, which could run code: save it there with"),
    "fastText's model": (b"\xba\x16\x4f\x2f\x0c\x00\x00\x00", "is fastText's own model; save its vectors"),
    "a zip file": (b"PK\x03\x04abc", "is a zip file; unpack it"),
    "an array": (b"\x93NUMPY\x01\x00", "is an array without words"),
    "a text": (b"hello\nworld\n", "line 1: b'hello' is neither 'WORDS WIDTH' nor a word and its numbers"),
    "a gzip file cut off": (gzip.compress(b"the 1 2 3\n" * 100)[:-9], "cannot be read to its end"),
    "a gzip file that is damaged": (gzip.compress(b"the 1 2 3\n")[:12] + b"xxxxxxxxxxx", "cannot be read to its end"),
}


@pytest.mark.parametrize(("data", "said"), FOREIGN.values(), ids=FOREIGN)
def test_other_files(data: bytes, said: str) -> None:
    Path("v").write_bytes(data)
    with pytest.raises(UserError, match=said) as raised:
        WordVectors.load("v")
    assert str(raised.value).startswith("v ") and "\n" not in str(raised.value)


def test_places_without_vectors(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none.txt is missing; give a file of vectors or the folder of a run"):
        WordVectors.load("none.txt")
    with pytest.raises(UserError, match=r"is no run: it has no config.json"):
        WordVectors.load(tmp_path)
    made().save("v.txt")
    with pytest.raises(UserError, match=r"which='both' is for the folder of a run; the file v.txt"):
        WordVectors.load("v.txt", which="both")


def read_or_refused(path: Path, data: bytes) -> None:
    """Whatever stands in a file: one line, or vectors that are finite and fit; and little memory either way."""
    path.write_bytes(data)
    tracemalloc.start()
    try:
        found = WordVectors.load(path)
    except UserError as error:
        assert "\n" not in str(error) and str(path) in str(error)
    else:
        assert len(set(found.words)) == len(found.words) == len(found.matrix) and np.isfinite(found.matrix).all()
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 3e7, peak


@pytest.mark.parametrize("name", NAMES + PACKED)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    place=st.floats(0, 1),
    gone=st.integers(0, 12),
    put=st.binary(max_size=6)
    | st.sampled_from(
        [
            b"99999999999",
            b"nan",
            b"inf",
            b"\n",
            b" ",
            b"\n\n",
            b"9" * 40,
            b"1e999",
            b"{",
            b"}",
            b"\xff",
            b"0",
            b"\x00" * 4,
        ]
    ),
)
def test_a_mutated_file_is_read_or_refused(tmp_path: Path, name: str, place: float, gone: int, put: bytes) -> None:
    vectors = made()
    if name == "v.safetensors":
        vectors = WordVectors(WORDS, MATRIX, [50, 40, 3, 2, 1], Spelling(2, 3, MATRIX))
    packed = name.endswith(".gz")
    vectors.save(tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    inner = gzip.decompress(whole) if packed else whole
    at = round(place * len(inner))
    changed = inner[:at] + put + inner[at + gone :]
    read_or_refused(tmp_path / name, gzip.compress(changed) if packed else changed)
    if packed:
        at = round(place * len(whole))
        read_or_refused(tmp_path / name, whole[:at] + put + whole[at + gone :])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), st.sampled_from(["v", *NAMES, *PACKED]))
def test_anything_is_read_or_refused(tmp_path: Path, data: bytes, name: str) -> None:
    read_or_refused(tmp_path / name, data)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data(), st.sampled_from(NAMES + PACKED))
def test_any_vectors_come_back(tmp_path: Path, data: st.DataObject, name: str) -> None:
    letters = st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\v\f\ufeff")
    words = data.draw(st.lists(st.text(letters, min_size=1, max_size=5), min_size=1, max_size=5, unique=True))
    width = data.draw(st.integers(2, 4))
    number = st.floats(width=32, allow_nan=False, allow_infinity=False, allow_subnormal=False)
    rows = [data.draw(st.lists(number, min_size=width, max_size=width)) for _ in words]
    vectors = WordVectors(words, rows)
    vectors.save(tmp_path / name)
    again = WordVectors.load(tmp_path / name)
    assert again.words == words
    np.testing.assert_allclose(again.matrix, vectors.matrix, rtol=1e-6, atol=1e-37)
