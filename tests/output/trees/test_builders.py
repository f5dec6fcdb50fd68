"""What every builder keeps: a whole tree, the same one every time, from one word up; bad counts are told."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay import parts
from foresay.errors import UserError
from tests.output.trees.made import codes

NAMES = parts.names("tree")
every = pytest.mark.parametrize("name", NAMES)


def vectors(words: int) -> np.ndarray:
    return np.random.default_rng(words).standard_normal((words, 3))


def test_the_trees_there_are():
    assert NAMES == ["balanced", "huffman", "random", "semantic"]


@every
@given(counts=st.lists(st.integers(0, 20), min_size=1, max_size=40))
def test_a_whole_tree(name: str, counts: list[int]):
    """Sum of 2^-depth is 1 and no word's path begins another's: every scores' probabilities sum to one."""
    tree = parts.make("tree", name).build(np.array(counts), vectors(len(counts)))
    assert len(tree) == len(counts) and tree.what_is_wrong() is None
    assert (0.5**tree.depths).sum() == pytest.approx(1, abs=1e-12)
    found = sorted(codes(tree))
    assert not any(after.startswith(before) for before, after in itertools.pairwise(found))
    scores = np.random.default_rng(1).normal(0, 3, len(counts) - 1)
    assert tree.probabilities(scores).sum() == pytest.approx(1, abs=1e-12)


@every
def test_the_same_tree_every_time(name: str):
    counts = np.random.default_rng(1).integers(0, 5, 300)
    one, other = (parts.make("tree", name).build(counts, vectors(300)) for _ in range(2))
    assert one == other


@every
@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (np.empty(0), r"counts of shape \(0,\); a tree needs one number for each of one or more words"),
        (np.ones((2, 2)), r"counts of shape \(2, 2\); a tree needs"),
        (np.array([1, -2]), r"the count of word 1 is -2; allowed: 0 or more, and finite"),
        (np.array([np.nan, 1]), r"the count of word 0 is nan; allowed: 0 or more, and finite"),
    ],
)
def test_what_cannot_be_counts(name: str, counts: np.ndarray, message: str):
    with pytest.raises(UserError, match=message):
        parts.make("tree", name).build(counts, vectors(2))
