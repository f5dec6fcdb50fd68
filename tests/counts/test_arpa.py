"""ARPA files: by hand, there and back, against KenLM where it is installed, and every way a file can be broken."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foresay import parts
from foresay.counts import arpa
from foresay.counts.table import Table
from foresay.counts.train import train
from foresay.errors import UserError
from foresay.text.tokens import START, STOP, UNK
from tests.counts.test_count import flat
from tests.counts.test_smoothing import V, documents

WORDS = ["<pad>", "<unk>", "<start>", "<stop>", "<mask>", *(f"w{number}" for number in range(5, V))]
BY_HAND = """
\\data\\
ngram 1=5
ngram 2=3

\\1-grams:
-1.0\t<unk>
-99\t<s>\t-0.30103
-0.5\t</s>
-0.6\tyes\t-0.2
-0.7\tno

\\2-grams:
-0.1\t<s> yes
-0.4\tyes yes
-0.2\tyes </s>

\\end\\
"""


def made(name: str = "modified-kneser-ney", order: int = 4, **given: object) -> Table:
    smoothing = parts.make("smoothing", name)
    return train(flat(documents(many=200)), V, order, smoothing, **given)[0]  # pyright: ignore[reportArgumentType]


def scored(table: Table, ids: list[int]) -> list[float]:
    found, _ = table.score(np.array([ids]), np.array([len(ids)]), np.array([table.start]))
    return (found[0] / math.log(10)).tolist()


def test_by_hand(tmp_path: Path) -> None:
    (tmp_path / "model.arpa").write_text(BY_HAND)
    table, words = arpa.read(tmp_path / "model.arpa")
    yes, no = words.index("yes"), words.index("no")
    assert words[UNK] == "<unk>" and words[START] == "<s>" and words[STOP] == "</s>"
    assert scored(table, [yes, yes, STOP]) == pytest.approx([-0.1, -0.4, -0.2])
    assert scored(table, [no, yes, no]) == pytest.approx([-0.30103 - 0.7, -0.6, -0.2 - 0.7])
    assert scored(table, [STOP, yes, UNK, STOP]) == pytest.approx([-0.30103 - 0.5, -0.1, -0.2 - 1.0, -0.5])


@pytest.mark.parametrize("name", ["witten-bell", "absolute", "kneser-ney", "modified-kneser-ney", "katz", "stupid"])
@pytest.mark.parametrize("file", ["model.arpa", "model.arpa.gz"])
def test_there_and_back(tmp_path: Path, name: str, file: str) -> None:
    table = made(name)
    arpa.write(tmp_path / file, table, WORDS)
    assert (tmp_path / file).read_bytes().startswith(b"\x1f\x8b" if file.endswith("gz") else b"\\data\\")
    assert [path.name for path in tmp_path.iterdir()] == [file]
    again, words = arpa.read(tmp_path / file)
    assert table.order == again.order and np.diff(again.orders[2:]).tolist() == np.diff(table.orders[2:]).tolist()
    for ids in documents(seed=3, many=30):
        mine = [words.index(WORDS[number]) for number in ids]
        assert scored(again, [*mine, STOP, *mine]) == pytest.approx(scored(table, [*ids, STOP, *ids]), abs=1e-5)


def test_a_pruned_model(tmp_path: Path) -> None:
    table = made(prune=1e-3)
    arpa.write(tmp_path / "model.arpa", table, WORDS)
    again, words = arpa.read(tmp_path / "model.arpa")
    ids = [number for document in documents(seed=3, many=30) for number in [*document, STOP]]
    mine = [STOP if number == STOP else words.index(WORDS[number]) for number in ids]
    assert scored(again, mine) == pytest.approx(scored(table, ids), abs=1e-5)


def test_kenlm_reads_what_we_write(tmp_path: Path) -> None:
    kenlm = pytest.importorskip("kenlm", reason="kenlm is not installed: it has no wheel and needs a compiler")
    table = made()
    arpa.write(tmp_path / "model.arpa", table, WORDS)
    model = kenlm.Model(str(tmp_path / "model.arpa"))
    for ids in documents(seed=3, many=50):
        text = " ".join(WORDS[number] for number in ids)
        assert model.score(text, bos=True, eos=True) == pytest.approx(sum(scored(table, [*ids, STOP])), abs=1e-4)


@pytest.mark.parametrize("name", ["add", "none"])
def test_models_that_do_not_back_off_have_none(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=r"models that back off.*witten-bell"):
        arpa.write(tmp_path / "model.arpa", made(name), WORDS)
    assert not list(tmp_path.iterdir())


def test_a_stopped_export_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(arpa, "_blocks", stop)
    with pytest.raises(KeyboardInterrupt):
        arpa.write(tmp_path / "model.arpa", made(), WORDS)
    assert not list(tmp_path.iterdir())


def test_words_with_blanks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'a b', which is empty or has blanks"):
        arpa.write(tmp_path / "model.arpa", made(), [*WORDS[:-1], "a b"])
    assert not list(tmp_path.iterdir())


BROKEN = {
    "no ARPA file": ("hello\n", "no .data.: this is no ARPA file"),
    "nothing": ("", "model.arpa is empty; give an ARPA file$"),
    "empty lines": ("\n\n", "line 2: no .data.: this is no ARPA file"),
    "a count that lies": (BY_HAND.replace("ngram 2=3", "ngram 2=4"), "line 18: the number of 2-grams is 3, and 4 was "),
    "a huge count": (BY_HAND.replace("ngram 2=3", "ngram 2=99999999999999"), "and 99999999999999 was declared"),
    "a count of a thousand digits": (BY_HAND.replace("ngram 2=3", "ngram 2=" + "9" * 5000), "is not 'ngram 2=COUNT'"),
    "no end of a sentence": (
        BY_HAND.replace("</s>\n", "stop\n").replace("yes </s>", "yes stop"),
        "no 1-gram </s>: no sentence could end",
    ),
    "a negative count": (BY_HAND.replace("ngram 2=3", "ngram 2=-3"), "line 4: 'ngram 2=-3' is not 'ngram 2=COUNT'"),
    "orders out of turn": (BY_HAND.replace("ngram 2=3", "ngram 3=3"), "'ngram 3=3' is not 'ngram 2=COUNT'"),
    "too high an order": (
        "\\data\\\n" + "".join(f"ngram {n}=1\n" for n in range(1, 66)),
        "has n-grams of more than 64 words; allowed: up to 64",
    ),
    "a section missing": (
        BY_HAND.replace("\\2-grams:", "\\3-grams:"),
        r"'\\3-grams:' stands where \\2-grams: should stand",
    ),
    "no section": (BY_HAND[: BY_HAND.index("\\1-grams")], r"the file ends where \\1-grams: should stand"),
    "cut off": (BY_HAND[: BY_HAND.index("yes </s>")], "line 16: a line of .2-grams: has 3 fields, not 1"),
    "no end": (BY_HAND.replace("\\end\\", ""), "no .end.: the file is cut off"),
    "no number": (BY_HAND.replace("-0.4", "abc"), "line 15: 'abc' should be numbers"),
    "NaN": (BY_HAND.replace("-0.4", "nan"), "line 15: log10 of a probability is at most 0 and a number, not nan"),
    "more than one": (BY_HAND.replace("-0.4", "0.4"), "at most 0"),
    "NaN behind": (BY_HAND.replace("-0.2\n", "nan\n"), "not -0.6 and nan"),
    "an unknown word": (BY_HAND.replace("<s> yes", "<s> maybe"), "line 14: the word 'maybe' is not among the 1-grams"),
    "a word with a NUL byte": (
        BY_HAND.replace("\tyes\t", "\tyes\0\t"),
        r"line 14: the word 'yes' is not among the 1-grams, where 'yes\\x00' has a NUL byte",
    ),
    "a word twice": (BY_HAND.replace("no\n", "yes\n"), "the word 'yes' stands there twice"),
    "a 2-gram twice": (BY_HAND.replace("yes </s>", "yes yes"), "a 2-gram stands there twice"),
    "too much": (BY_HAND.replace("yes yes", "yes yes yes"), "line 15: a line of .2-grams: has 3 fields, not 4"),
}


@pytest.mark.parametrize("many", [0, arpa.MANY], ids=["loop", "lines"])
@pytest.mark.parametrize(("text", "said"), BROKEN.values(), ids=BROKEN)
def test_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str, many: int) -> None:
    monkeypatch.setattr(arpa, "MANY", many)
    path = tmp_path / "model.arpa"
    path.write_text(text)
    with pytest.raises(UserError, match=said) as raised:
        arpa.read(path)
    assert str(path) in str(raised.value) and "\n" not in str(raised.value)


def test_folders(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"is a folder; give the path of an ARPA file, or open a run by WordModel.load"):
        arpa.read(tmp_path)
    with pytest.raises(UserError, match=rf"^{tmp_path} is a folder; arpa is one file: give {tmp_path}/model.arpa$"):
        arpa.write(tmp_path, made(), WORDS)
    with pytest.raises(UserError, match=rf"^{tmp_path}/none is no folder; make it first, or give another place$"):
        arpa.write(tmp_path / "none" / "model.arpa", made(), WORDS)
    assert not list(tmp_path.iterdir())


def test_broken_bytes(tmp_path: Path) -> None:
    path = tmp_path / "model.arpa"
    path.write_bytes(BY_HAND.encode().replace(b"yes", b"\xff\xfe"))
    with pytest.raises(UserError, match="no UTF-8 text"):
        arpa.read(path)
    path.write_bytes(gzip.compress(BY_HAND.encode())[:-20])
    with pytest.raises(UserError, match="cannot be read to its end"):
        arpa.read(path)
    packed = bytearray(gzip.compress(BY_HAND.encode()))
    packed[12:40] = b"\xff" * 28
    path.write_bytes(packed)
    with pytest.raises(UserError, match="cannot be read to its end"):
        arpa.read(path)
    with pytest.raises(UserError, match="is missing"):
        arpa.read(tmp_path / "none.arpa")


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "m.arpa").write_text("\ufeff" + BY_HAND.lstrip(), "utf-8")
    assert arpa.read(tmp_path / "m.arpa")[1][5:] == ["yes", "no"]


@pytest.mark.parametrize("many", [0, arpa.MANY], ids=["loop", "lines"])
def test_the_unknown_word_in_capitals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    """The same model wherever <UNK> stands among the words; a word of its own where <unk> is there too."""
    monkeypatch.setattr(arpa, "MANY", many)
    with_two = BY_HAND.replace("ngram 2=3", "ngram 2=4").replace("-0.2\tyes </s>", "-0.2\tyes </s>\n-0.3\tyes <unk>")
    (tmp_path / "m.arpa").write_text(with_two)
    expected, words = arpa.read(tmp_path / "m.arpa")
    capital, line = with_two.replace("<unk>", "<UNK>"), "-1.0\t<UNK>\n"
    for text in (capital, capital.replace(line, "").replace("-0.7\tno", f"{line}-0.7\tno")):
        (tmp_path / "m.arpa").write_text(text)
        table, spelt = arpa.read(tmp_path / "m.arpa")
        assert spelt == words and np.array_equal(table.word, expected.word)
        assert np.array_equal(table.log_prob, expected.log_prob) and np.array_equal(table.back, expected.back)
    both = with_two.replace("ngram 1=5", "ngram 1=6").replace("-1.0\t<unk>", "-1.0\t<unk>\n-0.9\t<UNK>")
    (tmp_path / "m.arpa").write_text(both)
    table, spelt = arpa.read(tmp_path / "m.arpa")
    assert spelt[5:] == ["<UNK>", "yes", "no"] and scored(table, [5]) == pytest.approx(
        [-0.9 - 0.30103]
    )  # backed off from <s>
    (tmp_path / "m.arpa").write_text(capital.replace("yes <UNK>", "yes <unk>"))
    with pytest.raises(UserError, match="the word '<unk>' is not among the 1-grams"):
        arpa.read(tmp_path / "m.arpa")


NUMBERS = st.one_of(
    st.floats(-99, 0).map(lambda number: f"{number:.7g}"),
    st.floats(-99, 0).map(repr),
    st.from_regex(r"-[0-9]{1,17}\.?[0-9]{0,5}(e-[0-9]{1,2})?", fullmatch=True),
    st.sampled_from(
        ["0", "-0", "-.5", "-5.", "-1e-320", "-1_0", "-inf", "-1e+1", "-0.00000000000000000000001", "-", "x"]
    ),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(NUMBERS, NUMBERS, st.sampled_from(["\t", " ", "  ", "\u00a0", " \r"])), min_size=9, max_size=9)
)
def test_the_loop_reads_as_python_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[tuple[str, str, str]]
):
    """Nine 2-grams with any numbers and blanks: the same bits, or the same complaint."""
    words = ["yes", "né" * 9, "<s>"]
    pairs = [f"{one} {other}" for one in words for other in words]
    lines = [f"{p}{gap}{pair}{gap}{b}" for (p, b, gap), pair in zip(rows, pairs, strict=True)]
    ones = "".join(f"-1\t{word}\t-0.5\n" for word in [*words, "</s>", "<unk>"])
    text = "\\data\\\nngram 1=5\nngram 2=9\nngram 3=0\n\\1-grams:\n" + ones + "\\2-grams:\n" + "\n".join(lines)
    (tmp_path / "m.arpa").write_text(text + "\n\\3-grams:\n\\end\\\n", "utf-8", newline="")
    found = []
    for many in (0, 10):
        monkeypatch.setattr(arpa, "MANY", many)
        try:
            table, spelt = arpa.read(tmp_path / "m.arpa")
            found.append([spelt, table.word.tobytes(), table.log_prob.tobytes(), table.back.tobytes()])
        except UserError as error:
            found.append([str(error)])
    assert found[0] == found[1]


def test_a_long_file_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces that end within a line, lines that Python takes among those of the loop, and no end of the last one."""
    names = [f"w{number}" for number in range(40)]
    ones = "".join(f"-1\t{word}\t-0.5\n" for word in [*names, "<s>", "</s>", "<unk>"])
    twos = [
        f"{'  ' * (n % 7 == 0)}-0.{n + 1}\t{a} {b}" for n, (a, b) in enumerate((a, b) for a in names for b in names)
    ]
    text = f"\\data\\\nngram 1=43\nngram 2=1600\n\n\\1-grams:\n{ones}\n\\2-grams:\n" + "\n".join(twos) + "\n\n\\end\\"
    (tmp_path / "m.arpa").write_text(text)
    expected, _ = arpa.read(tmp_path / "m.arpa")
    monkeypatch.setattr(arpa, "MANY", 0)
    for piece in (7, 100, 1 << 22):
        monkeypatch.setattr(arpa, "PIECE", piece)
        table, words = arpa.read(tmp_path / "m.arpa")
        assert words[5:] == names and np.array_equal(table.log_prob, expected.log_prob)
        assert np.array_equal(table.word, expected.word) and np.array_equal(table.back, expected.back)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(BY_HAND)), st.integers(0, 8), st.text(alphabet="\\-0129.=ngram yes<s>/\t\n\x00é", max_size=6))
def test_anything_is_read_or_refused(tmp_path: Path, at: int, gone: int, put: str) -> None:
    """A file with a hole and something in it: a model that can be walked, or one line."""
    path = tmp_path / "model.arpa"
    path.write_text(BY_HAND[:at] + put + BY_HAND[at + gone :], encoding="utf-8")
    try:
        table, words = arpa.read(path)
    except UserError as error:
        assert "\n" not in str(error).replace(str(path), "")
        return
    assert table.what_is_wrong(len(words)) is None
    assert not np.isnan(table.rows(np.array([table.start]))).any()
