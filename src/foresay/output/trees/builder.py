"""What every builder of trees keeps: counts (V,), and vectors (V, D) where they are used -> a tree of V words."""

from __future__ import annotations

import numpy as np

from foresay.errors import UserError
from foresay.output.trees.tree import Tree
from foresay.parts import Part


class Builder(Part):
    """`build(counts, vectors)` makes the tree; a part gives `grow`."""

    part_kind = "tree"

    def build(self, counts: np.ndarray, vectors: np.ndarray | None = None) -> Tree:
        """The tree of the words that `counts` counts; the same input gives the same tree."""
        return self.grow(checked(counts), vectors)

    def grow(self, counts: np.ndarray, vectors: np.ndarray | None) -> Tree:
        """The tree from counts that were checked, (V,) of float64."""
        raise AssertionError(f"{type(self).__name__} has no grow")


def checked(counts: np.ndarray) -> np.ndarray:
    """The counts as float64, exact up to 2^53; what cannot be counts is refused."""
    found = np.asarray(counts, np.float64)
    if found.ndim != 1 or not len(found):
        raise UserError(f"counts of shape {found.shape}; a tree needs one number for each of one or more words")
    if not np.isfinite(found).all() or found.min() < 0:
        word = int(np.flatnonzero(~(np.isfinite(found) & (found >= 0)))[0])
        raise UserError(f"the count of word {word} is {found[word]:g}; allowed: 0 or more, and finite")
    return found
