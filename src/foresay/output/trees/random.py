"""Words in a random order: cut into halves (Mnih and Hinton's RANDOM tree), or each piece anywhere.

A piece cut at a place drawn evenly makes the shape of a random search tree, whose mean depth is about 2 ln V.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from foresay.output.trees.builder import Builder
from foresay.output.trees.splits import grow_by_cuts, halve
from foresay.output.trees.tree import Tree
from foresay.parts import Count, part


@part("tree", "random")
class Random(Builder):
    """Words in a random order, cut into halves or anywhere."""

    def __init__(self, *, seed: Count = 1, cut: Literal["half", "anywhere"] = "half"):
        self.seed, self.cut = seed, cut

    def grow(self, counts: np.ndarray, vectors: np.ndarray | None) -> Tree:
        chance = np.random.default_rng(self.seed)

        def anywhere(begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
            return chance.integers(begins + 1, ends)

        return grow_by_cuts(chance.permutation(len(counts)), halve if self.cut == "half" else anywhere)
