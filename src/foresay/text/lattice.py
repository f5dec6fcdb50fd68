"""All ways to cut words into pieces at once, for learning a unigram model: forward, backward, best without a piece.

The words lie end to end in one row of bytes. `piece_at[i, m - 1]` is the piece of m bytes that begins at byte i, or -1;
it is an edge from the place i to the place i + m (a word of n bytes has n + 1 places). With log p of each piece

    forward   alpha(j) = log sum over edges i -> j of exp(alpha(i) + log p)        alpha(first) = 0
    backward  beta(i)  = log sum over edges i -> j of exp(log p + beta(j))         beta(last)   = 0
    P(edge | word) = exp(alpha(i) + log p + beta(j) - alpha(last))

Places equally far from the beginning of their words are done together (backward: from the end), so that no two edges
of one step meet. Sums have a fixed order: the same input gives the same bits.
"""

from __future__ import annotations

import numpy as np

from foresay.text.substrings import Seeds


class Lattice:
    """The lattices of words that are `lengths` bytes long and were seen `counts` times, over the pieces `seeds`."""

    def __init__(self, lengths: np.ndarray, counts: np.ndarray, seeds: Seeds):
        self.counts, self.piece_at = counts, seeds.piece_at
        self.begin, self.length = seeds.begin, seeds.length
        places = np.append(0, np.cumsum(lengths + 1))
        self.first, self.last = places[:-1], places[1:] - 1
        word = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)  # of each byte
        self.cell = np.flatnonzero(self.piece_at >= 0)  # of each edge, in piece_at
        byte, length = np.divmod(self.cell, self.piece_at.shape[1])
        self.piece = self.piece_at.ravel()[self.cell]
        self.word = word[byte]
        self.source = (byte + self.word).astype(np.int32)
        self.target = (self.source + length + 1).astype(np.int32)
        self._group()

    def keep(self, kept: np.ndarray) -> None:
        """Leaves out the pieces that are not `kept` (bool) and numbers the others anew."""
        number = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        self.piece = number[self.piece]
        self.piece_at.ravel()[self.cell] = self.piece
        left = self.piece >= 0
        self.cell, self.piece, self.word = self.cell[left], self.piece[left], self.word[left]
        self.source, self.target = self.source[left], self.target[left]
        self.begin, self.length = self.begin[kept], self.length[kept]
        self._group()

    def _group(self) -> None:
        self.forward = _grouped(self.source - self.first[self.word])
        self.backward = _grouped(self.last[self.word] - self.target)

    def expected(self, score: np.ndarray) -> tuple[np.ndarray, float]:
        """How often each piece is used, in expectation over all ways to cut all words, and log P of all words."""
        step = score[self.piece]
        alpha, beta = (np.full(self.last[-1] + 1, -np.inf) for _ in range(2))
        alpha[self.first] = 0.0
        beta[self.last] = 0.0
        for edges in self.forward:
            target = self.target[edges]
            alpha[target] = np.logaddexp(alpha[target], alpha[self.source[edges]] + step[edges])
        for edges in self.backward:
            source = self.source[edges]
            beta[source] = np.logaddexp(beta[source], beta[self.target[edges]] + step[edges])
        whole = alpha[self.last]
        used = np.exp(alpha[self.source] + step + beta[self.target] - whole[self.word])
        often = np.bincount(self.piece, used * self.counts[self.word], len(score))
        return often, float(np.dot(self.counts, whole))

    def best_without(self, score: np.ndarray) -> np.ndarray:
        """log P of the best way to cut each piece into others; -inf for a single byte."""
        found = np.empty(len(score))
        padded = np.append(score, -np.inf)  # of no piece, which is -1
        for n in np.unique(self.length).tolist():
            these = np.flatnonzero(self.length == n)
            best = np.full((n + 1, len(these)), -np.inf)
            best[0] = 0.0
            for i in range(n):
                for m in range(1, n - i + 1 - (i == 0)):
                    step = padded[self.piece_at[self.begin[these] + i, m - 1]]
                    best[i + m] = np.maximum(best[i + m], best[i] + step)
            found[these] = best[n]
        return found


def _grouped(level: np.ndarray) -> list[np.ndarray]:
    """The edges of each level; words are short, and numpy sorts small numbers in linear time."""
    order = np.argsort(level.astype(np.int16), kind="stable").astype(np.int32)
    return np.split(order, np.cumsum(np.bincount(level))[:-1])
