"""Phrases joined in a stream of ids, without a loop over words.

The ids here are inner ones: of every word of the vocabulary, of every part of a phrase, and of every phrase.

    0 end of a text    1 newline    2 unknown word    3, 4, ... words, then phrases in the order they were added

Where two neighbours are a phrase, `hit` is true. Read from left to right, a pair is joined unless its first word went
into the pair before: of each run of hits that is every second one, beginning with the first.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

import numpy as np

from foresay.text.pairs import keys

END, NEWLINE, UNKNOWN, FIRST = range(4)
Pair = tuple[str, str]


class Joiner:
    """Words <-> inner ids, and the phrases of each pass; `join` makes them one id."""

    def __init__(self, words: Iterable[str], passes: Sequence[Sequence[Pair]] = ()):
        self.words = ["", "\n", "", *words]
        self.made_of: dict[int, tuple[int, int]] = {}  # phrase -> its two parts
        self.ids = {word: i for i, word in enumerate(self.words) if i >= FIRST}
        self.tables: list[tuple[np.ndarray, np.ndarray]] = []  # of each pass: pairs in order, and what they become
        for pairs in passes:
            self.add(pairs)

    def add(self, pairs: Sequence[Pair]) -> None:
        """One more pass; the words of the pairs are known."""
        joined = [self._id_of(a, b) for a, b in pairs]
        left, right = ([self.ids[pair[side]] for pair in pairs] for side in (0, 1))
        found = keys(np.array(left, np.int64), np.array(right, np.int64))
        order = np.argsort(found)
        self.tables.append((found[order], np.array(joined, np.int64)[order]))

    def _id_of(self, a: str, b: str) -> int:
        """The id of a_b, which the text may hold as a word of its own too."""
        joined = f"{a}_{b}"
        if joined not in self.ids:
            self.ids[joined] = len(self.words)
            self.words.append(joined)
            self.made_of[self.ids[joined]] = self.ids[a], self.ids[b]
        return self.ids[joined]

    def spread(self, unit: int, known: Container[str] = ()) -> list[int]:
        """The words a unit is made of, down to those that are `known`."""
        if unit not in self.made_of or self.words[unit] in known:
            return [unit]
        return [word for part in self.made_of[unit] for word in self.spread(part, known)]

    def join(self, ids: np.ndarray) -> np.ndarray:
        """The ids with every phrase as one; (T,) of int64 -> at most as many."""
        for pairs, joined in self.tables:
            if len(pairs) and len(ids) > 1:
                ids = _join(ids, pairs, joined)
        return ids


def _join(ids: np.ndarray, pairs: np.ndarray, joined: np.ndarray) -> np.ndarray:
    neighbours = keys(ids[:-1], ids[1:])
    place = np.minimum(np.searchsorted(pairs, neighbours), len(pairs) - 1)
    hits = np.flatnonzero(pairs[place] == neighbours)
    begins = np.flatnonzero(np.diff(np.append(-2, hits)) > 1)  # of the runs of hits
    in_run = np.arange(len(hits)) - np.repeat(begins, np.diff(np.append(begins, len(hits))))
    taken = hits[in_run % 2 == 0]
    ids = ids.copy()
    ids[taken] = joined[place[taken]]
    return np.delete(ids, taken + 1)
