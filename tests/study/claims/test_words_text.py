"""Texts in memory: ids, vocabularies, parts held out, and files under FORESAY_DATA."""

from __future__ import annotations

import lzma

import numpy as np

from foresay.study.claims.words_text import JUDGES, built_in, judges, needed, numbered, vocabulary, wikipedia
from foresay.text.tokens import SPECIALS, STOP, UNK

FIRST = len(SPECIALS)


def test_words_are_numbered_by_falling_frequency():
    documents = [["b", "a", "a"], ["c", "a", "b"]]
    words = vocabulary(documents, least=2)
    assert words == [*SPECIALS, "a", "b"]
    text = numbered(documents, words)
    assert text.ids.tolist() == [FIRST + 1, FIRST, FIRST, STOP, UNK, FIRST, FIRST + 1, STOP]
    assert text.slice(1, 3).tolist() == [FIRST, FIRST] and text.slice(0, 1).dtype == np.int64


def test_the_beginning_of_a_text_has_a_vocabulary_of_its_own():
    documents = [["a", "b", "b", "c", "a", "a"]]
    text = numbered(documents, vocabulary(documents, least=1)).first(4, least=1)
    assert text.words == [*SPECIALS, "b", "a", "c"]  # of a and b here, b is the more frequent one
    assert text.ids.tolist() == [FIRST + 1, FIRST, FIRST, FIRST + 2]
    assert numbered(documents, vocabulary(documents, least=1)).first(4, least=2).ids.tolist() == [
        UNK,
        FIRST,
        FIRST,
        UNK,
    ]


def test_the_part_held_out_is_by_the_seed_and_not_in_the_text():
    text, held_out = built_in(1)
    again, other = built_in(1)[1], built_in(2)[1]
    assert 0.05 < len(held_out) / len(text) < 0.2 and text.words == held_out.words
    assert held_out.ids.tolist() == again.ids.tolist() != other.ids.tolist()
    assert min(np.bincount(text.ids)[FIRST:]) >= 5


def test_files_under_foresay_data(tmp_path, monkeypatch):
    monkeypatch.delenv("FORESAY_DATA", raising=False)
    assert wikipedia(10) is None and judges("analogies") is None
    monkeypatch.setenv("FORESAY_DATA", str(tmp_path))
    assert wikipedia(10) is None and judges("analogies") is None
    (tmp_path / "enwiki-text8-format").mkdir()
    packed = lzma.compress(b"to be or not to be " * 10)
    (tmp_path / "enwiki-text8-format" / "enwiki.xz").write_bytes(packed)
    found = wikipedia(10)
    assert found is not None and len(found) == 11 and found.ids[-1] == STOP  # ten words
    assert len(wikipedia(None) or ()) == 61
    (tmp_path / "word-eval").mkdir()
    (tmp_path / "word-eval" / JUDGES["MEN"]).write_text("")
    assert judges("MEN") == {"MEN": tmp_path / "word-eval" / "men.csv"} and judges("MEN", "analogies") is None
    assert "FORESAY_DATA" in needed("analogies") and "questions-words.txt" in needed("analogies")
