"""Remembered chunks: forgetting changes nothing."""

import pytest

from foresay.text.chunks import Chunks, by_library
from foresay.text.words import Words


def test_a_small_memory_gives_the_same_ids():
    tokens = Words()
    texts = [f"word{i % 7} and {i}, more" for i in range(40)]
    tokens.learn(texts)
    small = Chunks(by_library(tokens.library), str.split, most=3)
    for text in texts:
        assert small.encode_many([text])[0].tolist() == tokens.encode(text).tolist()
        assert len(small.numbers) <= 3 + 4


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
