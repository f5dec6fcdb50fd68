"""All ways to cut words: against writing them all out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.text.lattice import Lattice
from foresay.text.substrings import LONGEST, Seeds


def made(words: dict[bytes, int], pieces: list[bytes]) -> Lattice:
    """A lattice over given pieces, each of which stands somewhere in the words."""
    content = b"".join(words)
    at = np.full((len(content), LONGEST), -1, np.int32)
    begin = np.zeros(len(pieces), int)
    start = 0
    for word in words:
        for i in range(len(word)):
            for number, piece in enumerate(pieces):
                if word[i:].startswith(piece):
                    at[start + i, len(piece) - 1] = number
                    begin[number] = start + i
        start += len(word)
    seeds = Seeds(np.zeros(len(pieces)), begin, np.array(list(map(len, pieces))), at)
    return Lattice(np.array(list(map(len, words))), np.array(list(words.values()), float), seeds)


def ways(word: bytes, pieces: list[bytes]) -> list[list[int]]:
    """Every way to cut a word into pieces."""
    if not word:
        return [[]]
    return [[i, *rest] for i, p in enumerate(pieces) if word.startswith(p) for rest in ways(word[len(p) :], pieces)]


PIECES = [b"a", b"b", b"ab", b"ba", b"aba", b"bb"]
WORDS = {b"ababba": 3, b"b": 2, b"abab": 1, b"aba": 5}


@given(score=st.lists(st.floats(-8, -0.1), min_size=6, max_size=6))
def test_expected_counts_and_the_probability_of_all_words(score):
    found, log_prob = made(WORDS, PIECES).expected(np.array(score))
    expected, total = np.zeros(6), 0.0
    for word, count in WORDS.items():
        each = [(way, math.exp(sum(score[i] for i in way))) for way in ways(word, PIECES)]
        whole = sum(p for _, p in each)
        total += count * math.log(whole)
        for way, p in each:
            for i in way:
                expected[i] += count * p / whole
    assert found == pytest.approx(expected, rel=1e-9)
    assert log_prob == pytest.approx(total, rel=1e-12)


@given(score=st.lists(st.floats(-8, -0.1), min_size=6, max_size=6))
def test_the_best_way_without_a_piece(score):
    found = made(WORDS, PIECES).best_without(np.array(score))
    for number, piece in enumerate(PIECES):
        others = [sum(score[i] for i in way) for way in ways(piece, PIECES) if way != [number]]
        assert found[number] == pytest.approx(max(others, default=-math.inf))


def test_pieces_that_are_left_out_are_as_never_there():
    lattice = made(WORDS, PIECES)
    kept = np.array([True, True, False, True, False, True])
    lattice.keep(kept)
    fewer = made(WORDS, [p for p, k in zip(PIECES, kept, strict=True) if k])
    score = np.log([0.3, 0.3, 0.2, 0.2])
    assert lattice.expected(score)[0].tolist() == fewer.expected(score)[0].tolist()
    assert lattice.best_without(score).tolist() == fewer.best_without(score).tolist()
