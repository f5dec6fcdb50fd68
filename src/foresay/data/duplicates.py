"""Texts that were seen before: found by a 64-bit hash, in memory that does not grow with the corpus.

A table of 2^24 places holds the hashes, each at the first free one of eight places after its own. Two different texts
are taken for the same with a chance of about n^2 / 2^65. When all eight places are taken a text is not remembered,
which begins to happen at some ten million different texts: later copies of those go unnoticed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

PLACES = 2**24  # 128 MB when full; a place that is never used takes none
_TRIES = 8


class Seen:
    """The texts met so far."""

    def __init__(self, places: int = PLACES):
        self.table = np.zeros(places, dtype=np.uint64)
        self.forgotten = 0  # texts there was no room for

    def among(self, texts: Sequence[str]) -> np.ndarray:
        """(n,) bool: whether each text was met before, here or earlier in `texts`; the new ones are remembered."""
        hashes = self._hashes(texts)
        first = np.zeros(len(hashes), dtype=bool)
        first[np.unique(hashes, return_index=True)[1]] = True
        found = self._look(hashes)
        self._put(hashes[first & ~found])
        return found | ~first

    def has(self, texts: Sequence[str]) -> np.ndarray:
        """(n,) bool: whether each text was met before; nothing is remembered."""
        return self._look(self._hashes(texts))

    def _hashes(self, texts: Sequence[str]) -> np.ndarray:
        hashes = np.fromiter(map(hash, texts), dtype=np.int64, count=len(texts)).view(np.uint64)
        return np.maximum(hashes, np.uint64(1))  # 0 is an empty place

    def _places(self, hashes: np.ndarray, attempt: int) -> np.ndarray:
        return ((hashes + np.uint64(attempt)) % np.uint64(len(self.table))).astype(np.int64)

    def _look(self, hashes: np.ndarray) -> np.ndarray:
        found = np.zeros(len(hashes), dtype=bool)
        for attempt in range(_TRIES):
            found |= self.table[self._places(hashes, attempt)] == hashes
        return found

    def _put(self, hashes: np.ndarray) -> None:
        """Different hashes, none of them in the table yet."""
        for attempt in range(_TRIES):
            places = self._places(hashes, attempt)
            free = self.table[places] == 0
            free[free] = _first_of_each(places[free])
            self.table[places[free]] = hashes[free]
            hashes = hashes[~free]
        self.forgotten += len(hashes)


def _first_of_each(values: np.ndarray) -> np.ndarray:
    first = np.zeros(len(values), dtype=bool)
    first[np.unique(values, return_index=True)[1]] = True
    return first
