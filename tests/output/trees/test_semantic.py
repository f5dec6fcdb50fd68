"""The semantic tree: clusters are cut where they part, halves are equal and as tight as their centres allow."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from foresay.errors import UserError
from foresay.output.trees.semantic import Semantic
from foresay.output.trees.tree import Tree


def sides(tree: Tree) -> np.ndarray:
    """The first turn of every word."""
    return tree.signs[tree.first[:-1]]


@pytest.mark.parametrize("seed", range(8))
def test_two_clusters_part_at_the_root(seed: int):
    chance = np.random.default_rng(seed)
    cluster = chance.permutation(np.repeat([1, -1], 64))
    points = chance.standard_normal((128, 10)) + 4 * cluster[:, None]
    found = sides(Semantic(seed=seed).build(np.ones(128), points))
    assert np.array_equal(found, cluster) or np.array_equal(found, -cluster)


def test_clusters_within_clusters():
    """Four words on a line, 0 1 and 10 11: the pairs share all turns but the last."""
    tree = Semantic().build(np.ones(4), np.array([[0.0], [10.0], [1.0], [11.0]]))
    assert tree.depths.tolist() == [2, 2, 2, 2]
    assert sides(tree)[0] == sides(tree)[2] != sides(tree)[1] == sides(tree)[3]
    assert tree.nodes[tree.first[:-1] + 1].tolist() in ([1, 2, 1, 2], [2, 1, 2, 1])


def spread(points: np.ndarray, first: np.ndarray) -> float:
    """The squared distances to the centres of two halves."""
    return float(sum(((half - half.mean(0)) ** 2).sum() for half in (points[first], points[~first])))


def test_the_halves_are_the_best_for_their_centres():
    points = np.random.default_rng(3).standard_normal((40, 4)).astype(np.float32)
    first = sides(Semantic(rounds=100).build(np.ones(40), points)) > 0
    assert first.sum() == 20
    here = spread(points, first)
    centres = points[first].mean(0), points[~first].mean(0)
    along = points @ (centres[0] - centres[1])
    assert along[first].min() >= along[~first].max() - 1e-5
    shuffled = [spread(points, np.random.default_rng(seed).permutation(first)) for seed in range(200)]
    assert here < min(shuffled)


def test_the_best_halves_of_few_points_are_found_from_some_seed():
    points = np.random.default_rng(5).standard_normal((8, 2)).astype(np.float32)
    best = min(spread(points, np.isin(np.arange(8), half)) for half in itertools.combinations(range(8), 4))
    found = min(spread(points, sides(Semantic(seed=seed).build(np.ones(8), points)) > 0) for seed in range(20))
    assert found == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize("words", [1, 2, 3, 5, 33])
def test_any_number_of_words_and_words_that_are_all_alike(words: int):
    tree = Semantic().build(np.ones(words), np.zeros((words, 2)))
    assert tree.what_is_wrong() is None and np.ptp(tree.depths) <= 1


def test_what_cannot_be_vectors():
    build = Semantic().build
    with pytest.raises(UserError, match="none are given; give vectors or use huffman"):
        build(np.ones(3))
    for wrong in (np.ones(3), np.ones((2, 3)), np.ones((3, 0))):
        with pytest.raises(UserError, match=r"vectors of shape .* for 3 words; tree semantic needs one row"):
            build(np.ones(3), wrong)
    with pytest.raises(UserError, match="the vector of word 1 is not finite"):
        build(np.ones(3), np.array([[0], [np.inf], [0]]))
