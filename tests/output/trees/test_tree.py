"""A tree's paths: worked by hand, sums to one, and what is no tree is told."""

from __future__ import annotations

import numpy as np
import pytest

from foresay.errors import UserError
from foresay.output.trees.tree import Tree
from tests.output.trees.made import codes, paths

#        0
#      /   \
#   word 1   1
#          /   \
#         2   word 0
#       /   \
#  word 3  word 2
CHILDREN = np.array([[-2, 1], [2, -1], [-4, -3]])


@pytest.fixture
def tree() -> Tree:
    return Tree.of_children(CHILDREN)


def test_paths_by_hand(tree: Tree):
    assert paths(tree) == [[0, 1], [0], [0, 1, 2], [0, 1, 2]]
    assert codes(tree) == ["11", "0", "101", "100"]
    assert tree.first.tolist() == [0, 2, 3, 6, 9] and tree.depths.tolist() == [2, 1, 3, 3] and len(tree) == 4
    assert {name: array.dtype.name for name, array in tree.arrays().items()} == {
        "first": "int64", "nodes": "int32", "signs": "int8",
    }  # fmt: skip
    assert np.array_equal(tree.children(), CHILDREN) and tree.what_is_wrong() is None


def test_expected_depth_by_hand(tree: Tree):
    assert tree.expected_depth(np.array([1, 5, 1, 3])) == pytest.approx((2 + 5 + 3 + 9) / 10)
    with pytest.raises(UserError, match=r"the counts sum to 0; .* needs one count above 0"):
        tree.expected_depth(np.zeros(4))
    with pytest.raises(UserError, match=r"counts of shape \(3,\) for a tree of 4 words; give one number for each"):
        tree.expected_depth(np.ones(3))


def test_probabilities_by_hand(tree: Tree):
    """Odds 3 : 1, 1 : 4 and 1 : 1 at the three nodes."""
    found = tree.probabilities(np.log([3, 1 / 4, 1]))
    assert found == pytest.approx([1 / 4 * 4 / 5, 3 / 4, 1 / 4 / 5 / 2, 1 / 4 / 5 / 2])


def test_probabilities_sum_to_one_whatever_the_scores(tree: Tree):
    for scores in np.random.default_rng(1).normal(0, 30, (20, 3)):
        assert tree.probabilities(scores).sum() == pytest.approx(1, abs=1e-12)


def test_one_and_two_words():
    one = Tree.of_children(np.empty((0, 2), np.int64))
    assert len(one) == 1 and one.depths.tolist() == [0] and one.what_is_wrong() is None
    assert one.probabilities(np.empty(0)).tolist() == [1.0] and one.expected_depth(np.ones(1)) == 0
    two = Tree.of_children(np.array([[-1, -2]]))
    assert codes(two) == ["0", "1"] and two.what_is_wrong() is None
    assert two.probabilities(np.log([3.0])) == pytest.approx([0.75, 0.25])


def test_arrays_and_back(tree: Tree):
    back = Tree.from_arrays(tree.arrays())
    assert back == tree and back != Tree.of_children(CHILDREN[:, ::-1]) and tree != "tree"


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("first", lambda a: a.astype(np.int32), "first is int32 of 1 dimensions, not int64 of one"),
        ("nodes", lambda a: a[None], "nodes is int32 of 2 dimensions, not int32 of one"),
        ("first", lambda a: a + 1, "first does not rise from 0"),
        ("first", lambda a: a[[0, 2, 1, 3, 4]], "first does not rise from 0"),
        ("first", lambda a: a[:1], "first does not rise from 0"),
        ("first", lambda a: a[:-1], "paths of 6 turns with 9 nodes and 9 signs"),
        ("signs", lambda a: a[:-1], "paths of 9 turns with 9 nodes and 8 signs"),
        ("nodes", lambda a: a + 1, "4 words have 3 inner nodes, and one of another number is named"),
        ("nodes", lambda a: a - 1, "4 words have 3 inner nodes, and one of another number is named"),
        ("signs", lambda a: a * 2, "a sign is neither 1 nor -1"),
        ("first", lambda a: np.array([0, 0, 3, 6, 9]), "a path does not begin at the root"),
        ("nodes", lambda a: np.where(np.arange(9) == 2, 1, a).astype(np.int32), "a path does not begin at the root"),
        ("signs", lambda a: -np.abs(a), "one turn leads to two places"),
        ("nodes", lambda a: a[[0, 1, 2, 3, 4, 4, 6, 7, 7]], "one turn leads to two places"),
    ],
)
def test_what_is_no_tree(tree: Tree, name: str, change, message: str):
    arrays = tree.arrays()
    arrays[name] = change(arrays[name])
    assert Tree(**arrays).what_is_wrong() == message
    with pytest.raises(UserError, match=r"these arrays are no tree: .*; copy the file again or build the tree anew"):
        Tree.from_arrays(arrays)


def made(*words: list[tuple[int, int]]) -> Tree:
    """A tree, or none, from each word's (node, sign)."""
    first = np.cumsum([0, *map(len, words)])
    turns = np.array([turn for word in words for turn in word]).reshape(-1, 2)
    return Tree(first, turns[:, 0].astype(np.int32), turns[:, 1].astype(np.int8))


@pytest.mark.parametrize(
    "words",
    [
        [[(0, 1)], [(0, 1)]],  # two words at one place
        [[(0, 1)], [(0, -1), (1, 1)], [(0, -1), (1, 1)]],
        [[(0, 1)], [(0, -1)], [(0, -1), (1, 1)]],  # a word on the way to another
        [[(0, 1)], [(0, -1), (0, 1)], [(0, -1), (0, -1), (1, 1)]],  # a circle
        [[(0, 1), (1, 1)], [(0, 1), (1, -1)], [(0, -1), (1, 1)]],  # two turns to one node
    ],
)
def test_turns_that_lead_to_two_places(words: list):
    assert made(*words).what_is_wrong() == "one turn leads to two places"


def test_the_smallest_trees_from_their_turns():
    assert made([(0, 1)], [(0, -1), (1, 1)], [(0, -1), (1, -1)]).what_is_wrong() is None
    assert made([]).what_is_wrong() is None
    crossed = Tree(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.int8))
    assert crossed.what_is_wrong() == "1 words have 0 inner nodes, and one of another number is named"


def test_a_missing_array_is_named(tree: Tree):
    arrays = tree.arrays()
    del arrays["signs"]
    with pytest.raises(UserError, match="no tree: signs is missing"):
        Tree.from_arrays(arrays)
