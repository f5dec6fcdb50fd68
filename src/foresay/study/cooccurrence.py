"""Word vectors by counting alone: which words stand near which more often than by chance, in few dimensions.

    M[v, c] = max(0, log P(v, c) / (P(v) P(c)))      positive mutual information of a word and a context word
    M = U S W^T,  vectors = U S                      of the `size` largest singular values (Bullinaria and Levy 2012)

Context words are the most frequent ones, so that M has few columns C and its singular vectors are those of the small
M^T M (C, C). Seconds for a book; trained vectors are better.

ids (T,) -> M (V, C) -> vectors (V, size).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from foresay.parts import make
from foresay.text.tokens import SPECIALS


@dataclass(frozen=True)
class CountedVectors:
    """The words of a text, most frequent first, how often each stands there, and a vector for each, (V, size)."""

    words: list[str]
    counts: np.ndarray
    matrix: np.ndarray

    def __getitem__(self, word: str) -> np.ndarray:
        try:
            return self.matrix[self.words.index(word)]
        except ValueError:
            raise KeyError(word) from None


def count_vectors(text: str, *, size: int = 50, window: int = 4, contexts: int = 1000) -> CountedVectors:
    """Vectors of every word of a text, from the words up to `window` places before and after it."""
    words, ids = split(text)
    counts = np.bincount(ids, minlength=len(words))
    pairs = count_pairs(ids, len(words), min(contexts, len(words)), window)
    return CountedVectors(words, counts, reduce(positive_information(pairs), size))


def split(text: str) -> tuple[list[str], np.ndarray]:
    """The words of a text, most frequent first, and the text as places in that list, (T,)."""
    tokens = make("tokens", {"kind": "words", "size": len(text) + len(SPECIALS) + 1})
    tokens.learn([text])
    kept = tokens.encode(text).astype(np.int64)
    kept = kept[kept >= len(SPECIALS)]
    counts = np.bincount(kept, minlength=len(tokens))
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    rank = np.empty(len(tokens), np.int64)
    rank[order] = np.arange(len(order))
    return tokens.pieces(order), rank[kept]


def count_pairs(ids: np.ndarray, words: int, contexts: int, window: int) -> np.ndarray:
    """How often each word (V) stands up to `window` places from each of the first `contexts` words (C), (V, C)."""
    found = np.zeros(words * contexts, np.int64)
    for distance in range(1, window + 1):
        before, after = ids[:-distance], ids[distance:]
        for word, near in ((before, after), (after, before)):
            kept = near < contexts
            found += np.bincount(word[kept] * contexts + near[kept], minlength=len(found))
    return found.reshape(words, contexts)


def positive_information(pairs: np.ndarray) -> np.ndarray:
    """max(0, log P(v, c) / (P(v) P(c))) of counts (V, C); 0 where a pair was never seen."""
    total, rows, columns = pairs.sum(), pairs.sum(1, keepdims=True), pairs.sum(0, keepdims=True)
    chance = np.maximum(rows * (columns / max(total, 1)), 1e-300)
    return np.log(np.maximum(pairs / chance, 1.0)).astype(np.float32)


def reduce(matrix: np.ndarray, size: int) -> np.ndarray:
    """The rows of a matrix (V, C) in the `size` directions in which they differ most from 0, (V, size)."""
    _, directions = np.linalg.eigh(matrix.T @ matrix)
    return matrix @ directions[:, ::-1][:, :size]
