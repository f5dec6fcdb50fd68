"""Words in their order, halved and halved again: every path has ceil(log2 V) turns or one less."""

from __future__ import annotations

import numpy as np

from foresay.output.trees.builder import Builder
from foresay.output.trees.splits import grow_by_cuts, halve
from foresay.output.trees.tree import Tree
from foresay.parts import part


@part("tree", "balanced")
class Balanced(Builder):
    """Halves of the words in their order: every path equally long, to one turn."""

    def grow(self, counts: np.ndarray, vectors: np.ndarray | None) -> Tree:
        return grow_by_cuts(np.arange(len(counts)), halve)
