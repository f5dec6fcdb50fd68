"""Words that are alike share a path: vectors cut in two by two-means, into halves of equal size, again and again.

As in Mnih and Hinton (2009), with two-means in place of their mixture of two Gaussians. For centres a and b and halves
of fixed size the best assignment is exact: the words that lie farthest along a - b are the first half, because

    |x - b|^2 - |x - a|^2 = 2 x (a - b) + const.

Each piece begins with a random direction and repeats sort, cut, new centres until no word changes sides, `rounds` times
at most. Every path has ceil(log2 V) turns or one less.

vectors (V, D) -> a tree of V words; N words are in the P pieces of a level, and all pieces are sorted at once.
"""

from __future__ import annotations

import numpy as np

from foresay.errors import UserError
from foresay.output.trees.builder import Builder
from foresay.output.trees.splits import grow_by_cuts, halve
from foresay.output.trees.tree import Tree
from foresay.parts import Count, Size, part


@part("tree", "semantic")
class Semantic(Builder):
    """Words of like vectors side by side: two-means into equal halves, from the root down."""

    def __init__(self, *, seed: Count = 1, rounds: Size = 20):
        self.seed, self.rounds = seed, rounds

    def grow(self, counts: np.ndarray, vectors: np.ndarray | None) -> Tree:
        points = _checked(vectors, len(counts))
        words, chance = np.arange(len(points)), np.random.default_rng(self.seed)

        def cut(begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
            """Reorders the words of each piece so that its halves are two clusters."""
            level = _Level(begins, ends)
            own = words[level.place]
            directions = chance.standard_normal((len(begins), points.shape[1]), np.float32)
            words[level.place] = own[level.cluster(points[own], directions, self.rounds)]
            return level.middles

        return grow_by_cuts(words, cut)


class _Level:
    """The pieces of one level that have two words or more, one after the other."""

    def __init__(self, begins: np.ndarray, ends: np.ndarray):
        sizes = ends - begins
        starts = np.cumsum(sizes) - sizes
        self.middles = halve(begins, ends)
        self.piece = np.repeat(np.arange(len(begins)), sizes)  # (N,)
        self.place = np.arange(sizes.sum()) + (begins - starts)[self.piece]  # (N,) in the row of all words
        self.second = self.place >= self.middles[self.piece]
        self.halves = np.stack([starts, starts + self.middles - begins], 1).ravel()  # (2P,) where each begins
        self.sizes = np.stack([self.middles - begins, ends - self.middles], 1).reshape(-1, 1)

    def cluster(self, points: np.ndarray, directions: np.ndarray, rounds: int) -> np.ndarray:
        """The order (N,) that makes two clusters of each piece; points (N, D), directions (P, D) to begin with."""
        whole = np.arange(len(points))
        for done in range(rounds):
            along = np.einsum("nd,nd->n", points, directions[self.piece])
            order = np.lexsort((-along, self.piece))
            whole, points = whole[order], points[order]
            if done and (self.second[order] == self.second).all():
                break
            centres = np.add.reduceat(points, self.halves) / self.sizes
            directions = centres[::2] - centres[1::2]
        return whole


def _checked(vectors: np.ndarray | None, words: int) -> np.ndarray:
    if vectors is None:
        raise UserError("tree semantic puts like vectors together, and none are given; give vectors or use huffman")
    found = np.asarray(vectors, np.float32)
    if found.ndim != 2 or len(found) != words or not found.shape[1]:
        raise UserError(f"vectors of shape {found.shape} for {words} words; tree semantic needs one row for each word")
    if not np.isfinite(found).all():
        row = int(np.flatnonzero(~np.isfinite(found).all(1))[0])
        raise UserError(f"the vector of word {row} is not finite; tree semantic needs numbers")
    return found
