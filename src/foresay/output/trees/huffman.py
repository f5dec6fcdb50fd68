"""Huffman's tree (1952): the two lightest pieces are joined until one is left; no tree has a lower mean depth.

    H(P) <= sum_v P(v) depth(v) < H(P) + 1,    H(P) = -sum_v P(v) log2 P(v)

The pieces made come out in the order of their weight, so two queues do (van Leeuwen 1976): O(V) after a sort. Of equal
weights a word comes before a piece, which keeps the tree low, and a later word before an earlier one: a word that is
counted as often as another and stands before it never has the longer path.
"""

from __future__ import annotations

import numpy as np

from foresay.output.trees.builder import Builder
from foresay.output.trees.tree import Tree
from foresay.parts import part


@part("tree", "huffman")
class Huffman(Builder):
    """Short paths for frequent words: the lowest mean depth over the text of all trees."""

    def grow(self, counts: np.ndarray, vectors: np.ndarray | None) -> Tree:
        from foresay.kernels import tree as kernel  # numba takes a second to import

        lightest = len(counts) - 1 - np.argsort(counts[::-1], kind="stable")
        return Tree.of_children(kernel.join_lightest(counts[lightest], lightest))
