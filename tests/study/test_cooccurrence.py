"""Vectors by counting: pairs and mutual information by hand, the reduction against a whole SVD."""

from __future__ import annotations

import math

import numpy as np
import pytest

from foresay.study.cooccurrence import count_pairs, count_vectors, positive_information, reduce, split


def test_words_most_frequent_first():
    words, ids = split("b a b, b a c")
    assert words == ["b", "a", ",", "c"] or words == ["b", "a", "c", ","]
    assert [words[i] for i in ids] == ["b", "a", "b", ",", "b", "a", "c"]


def test_pairs_by_hand():
    """0 1 0 2, window 2, contexts 0 and 1: 0 has 1 twice beside it and itself twice; 2 has 0 and 1 once each."""
    assert count_pairs(np.array([0, 1, 0, 2]), 3, 2, 2).tolist() == [[2, 2], [2, 0], [1, 1]]
    assert count_pairs(np.array([0]), 1, 1, 3).tolist() == [[0]]


def test_information_by_hand():
    """P(0, 0) = 2/4 against 1/2 * 3/4; P(1, 1) = 1/4 against 1/2 * 1/4; the rest is less than by chance or not seen."""
    found = positive_information(np.array([[2, 0], [1, 1]]))
    expected = [[math.log((2 / 4) / (2 / 4 * 3 / 4)), 0], [0, math.log((1 / 4) / (2 / 4 * 1 / 4))]]
    assert found == pytest.approx(np.array(expected), abs=1e-6)
    assert positive_information(np.zeros((2, 2), np.int64)).tolist() == [[0, 0], [0, 0]]


def test_the_reduction_is_the_one_of_an_svd():
    matrix = np.random.default_rng(1).standard_normal((30, 8))
    left, values, _ = np.linalg.svd(matrix, full_matrices=False)
    found, expected = reduce(matrix, 3), left[:, :3] * values[:3]
    assert np.abs(found) == pytest.approx(np.abs(expected))  # each column to its sign


def test_words_of_one_company_are_alike():
    text = " ".join(f"{animal} eats . {tool} breaks ." for animal, tool in zip("abcab", "xyzzy", strict=True)) * 20
    vectors = count_vectors(text, size=3, window=1)
    assert vectors.counts.tolist() == sorted(vectors.counts, reverse=True) and vectors.matrix.shape == (9, 3)

    def alike(one: str, other: str) -> float:
        a, b = vectors[one], vectors[other]
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    assert alike("a", "b") > 0.9 > alike("a", "x")
    with pytest.raises(KeyError, match="zebra"):
        vectors["zebra"]
