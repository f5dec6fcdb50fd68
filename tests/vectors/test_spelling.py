"""Character n-grams: by hand, against fastText's own values, against gensim where it is installed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.errors import UserError
from foresay.vectors.spelling import Spelling, all_pieces, pieces_of

BUCKETS = 2_000_000
# What fastText's hash gives for whole strings; bytes above 127 show how it takes their sign.
HASHES = {"команда": 1725507386, "маленьких": 3011324125}


def hashed(text: str) -> int:
    """fastText's Dictionary::hash, byte by byte."""
    found = 2166136261
    for byte in text.encode():
        found = ((found ^ ((byte - 256 if byte > 127 else byte) & 0xFFFFFFFF)) * 16777619) & 0xFFFFFFFF
    return found


def grams(word: str, shortest: int, longest: int) -> list[str]:
    """Its n-grams by where they begin, then by length, without the marks alone."""
    marked = f"<{word}>"
    spans = [(i, i + n) for i in range(len(marked)) for n in range(shortest, longest + 1) if i + n <= len(marked)]
    return [marked[i:j] for i, j in spans if marked[i:j] not in ("<", ">") or 0 < i < len(marked) - 1]


@pytest.mark.parametrize(("text", "value"), HASHES.items())
def test_the_hash_is_fasttexts(text: str, value: int) -> None:
    assert hashed(text) == value


def test_where() -> None:
    expected = "<wh <whe <wher <where whe wher where where> her here here> ere ere> re>".split()  # noqa: SIM905
    assert grams("where", 3, 6) == expected
    assert pieces_of("where", 3, 6, BUCKETS).tolist() == [hashed(gram) % BUCKETS for gram in expected]


@given(st.lists(st.text(max_size=8), max_size=5), st.integers(1, 4), st.integers(0, 4), st.integers(1, 1000))
def test_every_word_has_its_pieces(words: list[str], shortest: int, more: int, buckets: int) -> None:
    first, rows = all_pieces(words, shortest, shortest + more, buckets)
    assert len(first) == len(words) + 1 and first[0] == 0 and first[-1] == len(rows)
    for number, word in enumerate(words):
        expected = [hashed(gram) % buckets for gram in grams(word, shortest, shortest + more)]
        assert rows[first[number] : first[number + 1]].tolist() == expected
        assert pieces_of(word, shortest, shortest + more, buckets).tolist() == expected


def test_blocks_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["one", "two", "drei", "", "x"]
    whole = all_pieces(words, 1, 3, 99)
    monkeypatch.setattr("foresay.vectors.spelling.BLOCK", 2)
    for found, expected in zip(all_pieces(words, 1, 3, 99), whole, strict=True):
        assert np.array_equal(found, expected)


@given(st.text(min_size=1, max_size=10))
def test_gensim_finds_the_same(word: str) -> None:
    inner = pytest.importorskip("gensim.models.fasttext_inner", reason="gensim is not installed")
    theirs = [inner.ft_hash_bytes(gram) % BUCKETS for gram in inner.compute_ngrams_bytes(word, 3, 6)]
    assert sorted(pieces_of(word, 3, 6, BUCKETS).tolist()) == sorted(theirs)


def test_a_vector_is_the_mean_of_its_pieces() -> None:
    table = np.arange(20, dtype=np.float32).reshape(10, 2)
    spelling = Spelling(3, 3, table)
    rows = [hashed(gram) % 10 for gram in ("<ab", "abc", "bc>")]
    found = spelling.vector("abc")
    assert found is not None and found.dtype == np.float32
    assert found.tolist() == pytest.approx(table[rows].mean(0).tolist())
    assert spelling.vector("") is None


def test_what_is_no_spelling() -> None:
    with pytest.raises(UserError, match="n-grams of 4 to 3 characters; allowed: 1 <= shortest <= longest"):
        Spelling(4, 3, np.zeros((2, 2), np.float32))
    with pytest.raises(UserError, match=r"shape \(3,\); allowed: \(buckets, D\)"):
        Spelling(3, 6, np.zeros(3, np.float32))
    with pytest.raises(UserError, match=r"n-grams holds a number that is not finite, in row 1"):
        Spelling(3, 6, np.array([[0], [np.nan]], np.float32))
    with pytest.raises(UserError, match="buckets=0; allowed: 1 to"):
        all_pieces(["a"], 3, 6, 0)
