"""Remembered chunks: forgetting changes nothing."""

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.text.chunks import Chunks, by_library, by_library_in_lines
from foresay.text.subwords import Subwords
from foresay.text.words import Words


def test_a_small_memory_gives_the_same_ids():
    tokens = Words()
    texts = [f"word{i % 7} and {i}, more" for i in range(40)]
    tokens.learn(texts)
    small = Chunks(by_library(tokens.library), str.split, most=3)
    for text in texts:
        assert small.encode_many([text])[0].tolist() == tokens.encode(text).tolist()
        assert len(small.numbers) <= 3 + 4
    assert [chunk for chunk, number in small.numbers.items() if number == 0] == ["word0"]  # met first, kept


@given(text=st.text(st.sampled_from("ab1.é中 \n\t\u2028'"), max_size=60))
def test_many_chunks_as_lines_of_one_text(text):
    tokens = subwords()
    chunks = list(dict.fromkeys(tokens.chunks.cut(text)))
    ids, lengths = by_library_in_lines(tokens.library)(chunks)
    alone, counts = by_library(tokens.library)(chunks)
    assert ids.tolist() == alone.tolist() and lengths.tolist() == counts.tolist()


@functools.cache
def subwords():
    tokens = Subwords(size=280)
    tokens.learn(["ab ab 11 ab. é中 'a\tb\n\n  ab\n"] * 3)
    return tokens


def test_few_ids_are_kept_too(monkeypatch):
    monkeypatch.setattr("foresay.text.chunks.IDS", 8)
    tokens = subwords()
    small = Chunks(by_library(tokens.library), str.split)
    for text in ("bb ba", "aaaa bbbbb b1", "a bb ba", "bb"):
        found = small.encode_many([text])[0].tolist()
        assert found == [i for word in text.split() for i in tokens.encode(word).tolist()]
    assert len(small.ids) <= 8 + 3 and "bb" in small.numbers


def test_after_an_error_all_goes_on(monkeypatch):
    tokens = Words()
    tokens.learn(["one two"])
    wanted = tokens.encode("two one").tolist()

    def fail(*_):
        raise MemoryError

    with monkeypatch.context() as patch, pytest.raises(MemoryError):
        patch.setattr(tokens.encoder, "encode", fail)
        tokens.encode("one three")
    assert tokens.encode("two one").tolist() == wanted
