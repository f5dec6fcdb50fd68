"""How often two words stand side by side, counted in bounded memory.

A pair is one number, a 2^32 + b. Pairs are gathered until there are `most`, then sorted into the counts so far. Above
`most` different pairs the rarest are dropped (lossy counting, Manku and Motwani 2002), as for single words.
"""

from __future__ import annotations

import numpy as np

MOST = 2**21  # different pairs kept, and as many waiting to be counted: about 150 MB


def keys(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Each pair of ids as one number."""
    return (left.astype(np.int64) << 32) | right.astype(np.int64)


class Pairs:
    """Counts of pairs; at most `most` different ones are kept."""

    def __init__(self, most: int = MOST):
        self.most = most
        self.keys, self.counts = np.empty(0, np.int64), np.empty(0, np.int64)
        self.waiting: list[np.ndarray] = []
        self.dropped_below = 0  # pairs seen at most this often may have been dropped

    def add(self, pairs: np.ndarray) -> None:
        """Counts the pairs of one more stretch of text, each as often as it is given."""
        self.waiting.append(pairs)
        if sum(map(len, self.waiting)) > self.most:
            self._count()

    def counted(self) -> tuple[np.ndarray, np.ndarray]:
        """The different pairs in order, and how often each was seen."""
        self._count()
        return self.keys, self.counts

    def _count(self) -> None:
        new, often = np.unique(np.concatenate([*self.waiting, np.empty(0, np.int64)]), return_counts=True)
        self.waiting = []
        found, place = np.unique(np.concatenate([self.keys, new]), return_inverse=True)
        counts = np.zeros(len(found), np.int64)
        counts[place[: len(self.keys)]] += self.counts
        counts[place[len(self.keys) :]] += often
        while len(found) > self.most:
            self.dropped_below += 1
            kept = counts > self.dropped_below
            found, counts = found[kept], counts[kept]
        self.keys, self.counts = found, counts
