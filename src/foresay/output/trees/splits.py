"""Trees that grow from the root: all words in a row, cut in two, each piece cut in two, until each is one word.

Level by level, all pieces of a level at once: a tree of V words takes as many numpy calls as it is deep, not V.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from foresay.output.trees.tree import Tree

# (begins, ends) of a level's pieces, each of two words or more -> where each is cut; it may reorder words in a piece.
Cut = Callable[[np.ndarray, np.ndarray], np.ndarray]


def grow_by_cuts(words: np.ndarray, cut: Cut) -> Tree:
    """The tree over `words` (V,), in whose order the first child's words come before the second's."""
    children = np.empty((len(words) - 1, 2), np.int64)
    begins, ends = np.array([0]), np.array([len(words)])
    if len(words) == 1:
        return Tree.of_children(children)
    made = 0
    while len(begins):
        middles = cut(begins, ends)
        nodes = slice(made, made + len(begins))
        made += len(begins)
        lows, highs = np.stack([begins, middles], 1).ravel(), np.stack([middles, ends], 1).ravel()
        inner = highs - lows > 1
        children[nodes] = np.where(inner, made - 1 + np.cumsum(inner), -1 - words[lows]).reshape(-1, 2)
        begins, ends = lows[inner], highs[inner]
    return Tree.of_children(children)


def halve(begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Cuts in the middle; of an odd number the first piece, whose words are often the frequent ones, has one less."""
    return (begins + ends) // 2
