"""Random trees: the seed decides, halves stay balanced, cuts anywhere make a search tree's depth."""

from __future__ import annotations

import numpy as np

from foresay.output.trees.random import Random


def test_the_seed_decides():
    one, same, other = (Random(seed=seed).build(np.ones(50)) for seed in (1, 1, 2))
    assert one == same and one != other


def test_halves_are_balanced_and_the_words_are_not_in_order():
    tree = Random().build(np.ones(100))
    assert set(tree.depths.tolist()) == {6, 7}
    in_first_half = np.flatnonzero(tree.signs[tree.first[:-1]] > 0)
    assert len(in_first_half) == 50 and in_first_half.tolist() != list(range(50))


def test_cuts_anywhere_are_as_deep_as_a_random_search_tree():
    """Over the leaves the mean is 2 (H_V - 1), H_V the V-th harmonic number: 11.1 for 400."""
    words = 400
    expected = 2 * (sum(1 / k for k in range(1, words + 1)) - 1)
    means = [Random(seed=seed, cut="anywhere").build(np.ones(words)).depths.mean() for seed in range(60)]
    assert abs(np.mean(means) - expected) < 4 * np.std(means) / np.sqrt(60)
