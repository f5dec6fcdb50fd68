"""Texts met before: exactly what a set would find, in a fixed table; dropped or only counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.data.corpus import Corpus
from foresay.data.duplicates import Seen
from foresay.data.prepare import prepare
from foresay.data.source import Reading
from foresay.text.characters import Characters
from foresay.text.words import Words


@given(batches=st.lists(st.lists(st.sampled_from("abcdefghijklmnop"), max_size=12), max_size=6))
def test_what_a_set_would_find(batches):
    seen, known = Seen(places=64), set()
    for batch in batches:
        assert seen.has(batch).tolist() == [text in known for text in batch]
        expected = [text in known or text in batch[:i] for i, text in enumerate(batch)]
        assert seen.among(batch).tolist() == expected
        known |= set(batch)


def test_a_table_that_is_full_forgets_and_says_so():
    seen = Seen(places=16)
    assert not seen.among([str(i) for i in range(1000)]).any()
    assert 1000 - 16 <= seen.forgotten <= 1000 - 8
    assert seen.has([str(i) for i in range(1000)]).sum() == 1000 - seen.forgotten


def test_many_texts_in_a_table_with_room():
    seen = Seen(places=2**16)
    texts = [str(i) for i in range(6000)]
    assert not seen.among(texts).any() and seen.among(texts).all() and seen.forgotten == 0


@pytest.mark.parametrize("unit", ["line", "document"])
def test_dropped_or_counted(tmp_path, unit):
    lines = [f"text {i % 30}" for i in range(90)]
    if unit == "line":
        path = tmp_path / "a.txt"
        path.write_text("".join(line + "\n" for line in lines))
    else:
        path = tmp_path / "a.csv"
        path.write_text("text\n" + "".join(line + "\n" for line in lines))
    valid = tmp_path / "valid.csv"
    valid.write_text("text\ntext 3\nnew\ntext 3\n")
    counted = prepare(Corpus(str(path), str(valid), unit=unit), Characters(), 1, cache=tmp_path / "c", block=100)
    assert counted.train.documents == 90 and counted.train.meta.repeated == 60
    assert counted.notes == (
        f"train text: 60 {unit}s met before in it: kept; data.duplicates=drop leaves them out",
        f"validation text: 2 of 3 {unit}s also in the train text",
    )
    read = Reading(duplicates="drop")
    dropped = prepare(
        Corpus(str(path), str(valid), unit=unit, read=read), Characters(), 1, cache=tmp_path / "c", block=100
    )
    assert dropped.train.documents == 30 and dropped.valid.documents == 3
    assert dropped.notes[0] == f"train text: 60 {unit}s met before in it: left out"
    whole = "".join(f"text {i}" + ("\n" if unit == "line" else "") for i in range(30))
    assert (dropped.train.characters, dropped.train.bytes) == (len(whole), len(whole))


def test_files_with_the_same_text(tmp_path):
    for name, text in {"a": "one", "b": "two", "c": "one"}.items():
        (tmp_path / f"{name}.txt").write_text(text * 20)
    corpus = Corpus(str(tmp_path), share=0.0)
    found = prepare(corpus, Characters(), 1, cache=tmp_path.parent / "c")
    assert found.train.documents == 3
    assert found.notes == (
        "data.train: 1 file with the text of another one: kept; data.duplicates=drop leaves them out",
    )
    corpus = Corpus(str(tmp_path), share=0.0, read=Reading(duplicates="drop"))
    assert prepare(corpus, Characters(), 1, cache=tmp_path.parent / "c").train.documents == 2


def test_the_vocabulary_is_learnt_from_what_is_kept(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text\n" + "zebra quagga\n" * 50 + "".join(f"cat {i}\n" for i in range(60)))
    corpus = Corpus(str(path), share=0.0, read=Reading(duplicates="drop"))
    found = prepare(corpus, Words(min_count=40), 1, cache=tmp_path / "c")
    assert found.tokens.pieces(range(5, len(found.tokens))) == ["cat"]


def test_rows_do_not_teach_a_newline(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text\nab\nba\n")
    found = prepare(Corpus(str(path), share=0.0), Characters(), 1, cache=tmp_path / "c")
    assert found.tokens.pieces(range(5, len(found.tokens))) == ["a", "b"]


def test_validation_that_is_the_train_text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("text " * 50)
    found = prepare(Corpus(str(path), valid=str(path)), Characters(), 1, cache=tmp_path / "c")
    assert found.notes == ("data.valid: 1 file with the text of a train file: what is measured there is known",)
