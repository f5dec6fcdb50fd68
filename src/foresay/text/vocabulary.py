"""Counts in bounded memory, and the vocabulary they give: word <-> id, the specials first.

Above `most` different words the rarest are dropped (lossy counting, Manku and Motwani 2002): a word that is
frequent enough for any sensible vocabulary is never among them. The order is by falling count, then by the word
itself, so the same text gives the same ids everywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from foresay.text.tokens import SPECIALS

MOST = 2_000_000  # different words kept while counting: about 250 MB


class Counts:
    """How often each word was seen; at most `most` different words are kept."""

    def __init__(self, most: int = MOST):
        self.most = most
        self.seen: Counter[str] = Counter()
        self.dropped_below = 0  # words seen at most this often may have been dropped

    def add(self, counts: Mapping[str, int]) -> None:
        """Adds the counts of one more stretch of text."""
        self.seen.update(counts)
        while len(self.seen) > self.most:
            self.dropped_below += 1
            floor = self.dropped_below
            self.seen = Counter({word: n for word, n in self.seen.items() if n > floor})

    def frequent(self, size: int | None, min_count: int = 1) -> list[str]:
        """The most frequent words, at most `size` of them; ties in the order of the words."""
        kept = [(-count, word) for word, count in self.seen.items() if count >= min_count and word not in SPECIALS]
        return [word for _, word in sorted(kept)[:size]]


class Vocabulary:
    """word <-> id; ids 0-4 are the specials."""

    def __init__(self, words: list[str]):
        self.words = [*SPECIALS, *words]
        self.ids = {word: i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)
