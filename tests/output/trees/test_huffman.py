"""Huffman's tree: by hand, against a heap, against every tree there is, and between the entropy and one more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresay.output.trees.huffman import Huffman
from tests.output.trees.made import cheapest, codes, counts_drawn, entropy, huffman_cost


def test_five_words_by_hand():
    """15 7 6 6 5: 5 + 6 (the later 6) = 11; 6 + 7 = 13; 11 + 13 = 24; 15 + 24 = 39: depths 1 3 3 3 3."""
    tree = Huffman().build(np.array([15, 7, 6, 6, 5]))
    assert codes(tree) == ["0", "111", "110", "101", "100"]
    assert tree.expected_depth(np.array([15, 7, 6, 6, 5])) == pytest.approx((39 + 24 + 13 + 11) / 39)


def test_equal_counts_make_a_low_tree_and_the_first_word_is_never_deeper():
    assert Huffman().build(np.ones(8)).depths.tolist() == [3] * 8
    assert Huffman().build(np.ones(6)).depths.tolist() == [2, 2, 3, 3, 3, 3]
    assert Huffman().build(np.zeros(6)).depths.tolist() == [2, 2, 3, 3, 3, 3]


def test_powers_of_two_reach_the_entropy():
    counts = np.array([8, 4, 2, 1, 1])
    tree = Huffman().build(counts)
    assert tree.depths.tolist() == [1, 2, 3, 4, 4] and tree.expected_depth(counts) == entropy(counts)


def test_fibonacci_counts_make_the_deepest_tree():
    counts = [1, 1]
    while len(counts) < 40:
        counts.append(counts[-1] + counts[-2])
    assert Huffman().build(np.array(counts)).depths.tolist() == [39, *range(39, 0, -1)]


@given(counts=counts_drawn)
def test_as_low_as_a_heap_makes_it(counts: list[int]):
    tree = Huffman().build(np.array(counts))
    assert int(tree.depths @ np.array(counts)) == huffman_cost(counts)


@settings(max_examples=15)
@given(counts=st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(sum))
def test_no_tree_is_lower(counts: list[int]):
    assert int(Huffman().build(np.array(counts)).depths @ np.array(counts)) == cheapest(counts)


@given(counts=counts_drawn)
def test_between_the_entropy_and_one_more(counts: list[int]):
    """Shannon's bounds; the upper one needs words that occur: one with count 0 still has a path."""
    some = np.array([count for count in counts if count])
    depth = Huffman().build(some).expected_depth(some)
    assert entropy(some) - 1e-9 <= depth < entropy(some) + 1


@given(counts=counts_drawn)
def test_more_frequent_words_never_have_longer_paths(counts: list[int]):
    depths = Huffman().build(np.array(counts)).depths
    order = sorted(range(len(counts)), key=lambda word: (-counts[word], word))
    assert (np.diff(depths[order]) >= 0).all()
