"""Preparing a corpus: the right ids in the right parts, once, and nothing after a mistake."""

import pytest

from foresay import parts
from foresay.data import prepare as module
from foresay.data.corpus import Corpus
from foresay.data.prepare import prepare
from foresay.errors import UserError
from foresay.text.bytes import Bytes
from foresay.text.characters import Characters
from foresay.text.subwords import Subwords
from foresay.text.tokens import STOP
from foresay.text.words import Words
from tests.data.made import TEXT

KINDS = parts.names("tokens")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


def small(kind):
    return parts.make("tokens", {"kind": kind, "size": 300} if kind == "subwords" else kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("unit", ["document", "line"])
def test_small_blocks_give_the_ids_of_the_whole_text(file, tmp_path, kind, unit):
    corpus = Corpus(str(file), unit=unit, share=0.0)
    found = prepare(corpus, small(kind), 1, cache=tmp_path / "c", block=50, shard=64)
    texts = [TEXT] if unit == "document" else [line for line in TEXT.split("\n") if line.strip()]
    flat = [i for text in texts for i in [*found.tokens.encode(text).tolist(), STOP]]
    assert found.train.slice(0, len(flat) + 9).tolist() == flat
    assert found.train.documents == len(texts)
    counted = TEXT if unit == "document" else "".join(text + "\n" for text in texts)
    assert (found.train.characters, found.train.bytes) == (len(counted), len(counted.encode()))
    assert found.valid is None and found.test is None
    assert len(found.train.files) > 1


def test_the_vocabulary_is_learnt_from_train_only(tmp_path):
    for name, text in {"train": "a b a", "valid": "a c", "test": "b d"}.items():
        (tmp_path / name).write_text(text)
    corpus = Corpus(*(str(tmp_path / name) for name in ("train", "valid", "test")))
    found = prepare(corpus, Words(), 1, cache=tmp_path / "c")
    assert found.tokens.pieces(range(5, len(found.tokens))) == ["a", "b"]
    assert found.tokens.pieces(found.valid.slice(0, 9)) == ["a", "<unk>", "<stop>"]
    assert found.tokens.pieces(found.test.slice(0, 9)) == ["b", "<unk>", "<stop>"]


def test_the_tail_is_held_out(file, tmp_path):
    found = prepare(Corpus(str(file)), Characters(), 1, cache=tmp_path / "c")
    train = TEXT[: len(found.tokens.decode(found.train.slice(0, 10**6)))]
    assert found.tokens.decode(found.train.slice(0, 10**6)) == train and train.endswith("\n")
    assert 0.85 < len(train.encode()) / len(TEXT.encode()) <= 0.9
    assert found.valid.bytes == len(TEXT[len(train) :].encode())


def test_the_second_time_nothing_is_made(file, tmp_path, monkeypatch):
    first = prepare(Corpus(str(file)), Words(), 1, cache=tmp_path / "c")
    copy = tmp_path / "elsewhere.txt"
    copy.write_text(TEXT)
    monkeypatch.setattr(module, "Writer", None)
    again = prepare(Corpus(str(copy)), Words(), 2, cache=tmp_path / "c")  # another path; the seed is not used
    assert again.folder == first.folder
    assert again.tokens.encode(TEXT).tolist() == first.tokens.encode(TEXT).tolist()


def test_whatever_matters_makes_another_folder(file, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text(TEXT + "more\n")
    seeded = Corpus(str(file), holdout="seed", unit="line")
    made = [
        (Corpus(str(file)), Words(), 1),
        (Corpus(str(other)), Words(), 1),
        (Corpus(str(file), valid=str(other)), Words(), 1),
        (Corpus(str(file), test=str(other)), Words(), 1),
        (Corpus(str(file), unit="line"), Words(), 1),
        (Corpus(str(file), share=0.2), Words(), 1),
        (Corpus(str(file)), Words(size=50), 1),
        (Corpus(str(file)), Bytes(), 1),
        (seeded, Words(), 1),
        (seeded, Words(), 2),
    ]
    folders = {prepare(*settings, cache=tmp_path / "c").folder for settings in made}
    assert len(folders) == len(made)


def test_progress_is_told_by_stage(file, tmp_path):
    told = []
    prepare(Corpus(str(file)), Words(), 1, cache=tmp_path / "c", block=200, on_progress=lambda *one: told.append(one))
    stages = list(dict.fromkeys(stage for stage, _ in told))
    assert stages == [f"read {file}", "learn", "encode train", "encode valid"]
    for stage in stages:
        fractions = [fraction for name, fraction in told if name == stage]
        assert fractions == sorted(fractions) and fractions[-1] == 1.0
        assert len(fractions) > 1 or stage.startswith(("read", "encode valid"))


def test_two_processes_at_once(file, tmp_path, forks):
    hook = ("tests.data.processes", "prepare_and_say", str(file), str(tmp_path / "c"))
    both = [forks.start(["foresay"], hook=hook) for _ in range(2)]
    said = [process.finish() for process in both]
    assert said[0] == said[1] and said[0][0] == 0 and said[0][1] != ""
    assert len([path for path in (tmp_path / "c").iterdir() if path.is_dir() and path.name != "scans"]) == 1


def nothing_written(cache):
    return not [path for path in cache.glob("*") if path.is_dir() and path.name != "scans"]


@pytest.mark.parametrize(("tokens", "unit"), [(Subwords(), "document"), (Words(), "line"), (Characters(), "line")])
def test_a_line_too_long_is_told(tmp_path, monkeypatch, tokens, unit):
    monkeypatch.setattr(module, "LONGEST_LINE", 100)
    path = tmp_path / "long.txt"
    path.write_text("short\n" + "x" * 101 + "\nshort\n")
    with pytest.raises(UserError, match=r"long.txt: line 2 has 101 bytes; allowed: 100; break it"):
        prepare(Corpus(str(path), unit=unit), tokens, 1, cache=tmp_path / "c")
    assert nothing_written(tmp_path / "c")
    prepare(Corpus(str(path), unit="document"), Characters(), 1, cache=tmp_path / "c", block=10)


@pytest.mark.parametrize("content", ["x", " \n \n", "\n"])
def test_too_little_text_is_told(tmp_path, content):
    path = tmp_path / "little.txt"
    path.write_text(content)
    with pytest.raises(UserError, match=r"too small to hold out|gives no tokens"):
        prepare(Corpus(str(path)), Words(), 1, cache=tmp_path / "c")
    assert nothing_written(tmp_path / "c")


def test_a_file_that_changes_meanwhile_is_told(file, tmp_path):
    def change(stage, fraction):
        if stage == "encode valid":
            file.write_text(TEXT + "more")

    with pytest.raises(UserError, match=r"text.txt changed while it was read"):
        prepare(Corpus(str(file)), Bytes(), 1, cache=tmp_path / "c", on_progress=change)
    assert nothing_written(tmp_path / "c")


def test_a_damaged_cache_is_told(file, tmp_path):
    found = prepare(Corpus(str(file)), Bytes(), 1, cache=tmp_path / "c")
    path = found.folder / "train" / "00000.bin"
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(UserError, match=r"00000\.bin is damaged"):
        prepare(Corpus(str(file)), Bytes(), 1, cache=tmp_path / "c")
