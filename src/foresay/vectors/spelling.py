"""Vectors from spelling: a word is the mean of its character n-grams, as in fastText (Bojanowski et al. 2017).

    where     ->  <wh <whe <wher <where  whe wher where where>  her here here>  ere ere>  re>
    row(g)     =  FNV-1a(the UTF-8 bytes of g) mod the number of rows
    v(word)    =  mean of table[row(g)] over its n-grams g

fastText's hash takes a byte for a signed number, so that one above 127 flips the upper 24 bits too; that is kept, for
its tables to mean the same here. The marks < and > alone are no n-grams.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from foresay.errors import UserError
from foresay.vectors.checked import check_finite

BASIS, PRIME = np.uint32(2166136261), np.uint32(16777619)
BLOCK = 1 << 16  # words hashed at a time


@dataclass(frozen=True, eq=False)
class Spelling:
    """N-grams of `shortest` to `longest` characters, and a table (buckets, D) of their vectors."""

    shortest: int
    longest: int
    table: np.ndarray

    def __post_init__(self) -> None:
        check_lengths(self.shortest, self.longest)
        if self.table.ndim != 2 or not self.table.size:
            raise UserError(f"the table of n-grams has shape {self.table.shape}; allowed: (buckets, D)")
        check_finite(self.table, "the table of n-grams")

    def vector(self, word: str) -> np.ndarray | None:
        """The mean (D,) of the word's n-grams, float32; None for a word that is too short to have any."""
        rows = pieces_of(word, self.shortest, self.longest, len(self.table))
        return self.table[rows].mean(0, dtype=np.float64).astype(np.float32) if len(rows) else None


def check_lengths(shortest: int, longest: int) -> None:
    if not 1 <= shortest <= longest:
        raise UserError(f"n-grams of {shortest} to {longest} characters; allowed: 1 <= shortest <= longest")


def pieces_of(word: str, shortest: int, longest: int, buckets: int) -> np.ndarray:
    """The rows of a word's n-grams, by where they begin and then by length."""
    return all_pieces([word], shortest, longest, buckets)[1]


def all_pieces(words: Sequence[str], shortest: int, longest: int, buckets: int) -> tuple[np.ndarray, np.ndarray]:
    """The n-grams of a vocabulary: those of word w are rows[first[w]:first[w + 1]]; int64 and int32."""
    check_lengths(shortest, longest)
    if not 1 <= buckets < 1 << 31:
        raise UserError(f"buckets={buckets}; allowed: 1 to {(1 << 31) - 1}")
    counts, rows = [np.zeros(1, np.int64)], [np.zeros(0, np.int32)]
    for low in range(0, len(words), BLOCK):
        count, row = _block(words[low : low + BLOCK], shortest, longest, buckets)
        counts.append(count)
        rows.append(row)
    return np.cumsum(np.concatenate(counts)), np.concatenate(rows)


def _block(words: Sequence[str], shortest: int, longest: int, buckets: int) -> tuple[np.ndarray, np.ndarray]:
    """How many n-grams each word has, and the rows of all of them."""
    data = np.frombuffer("".join([f"<{word}>" for word in words]).encode("utf-8", "surrogatepass"), np.int8)
    starts = np.append(np.flatnonzero((data.view(np.uint8) & 0xC0) != 0x80), len(data))  # of characters
    lengths = np.array([len(word) + 2 for word in words])
    ends = np.cumsum(lengths)
    room = np.repeat(ends, lengths) - np.arange(ends[-1])  # characters from here to the end of the word
    marks = np.zeros(len(room), np.int64)  # < alone, which is left out
    marks[ends - lengths] = shortest == 1
    number = np.maximum(np.minimum(room, longest) - shortest + 1 - marks, 0)  # n-grams that begin here
    number[ends - 1] = 0
    first = np.cumsum(number) - number - shortest - marks
    rows = np.empty(int(number.sum()), np.int32)
    hashes = np.full(len(room), BASIS)
    for n in range(1, longest + 1):
        here = np.flatnonzero(room >= n)
        _take_character(hashes, here, data, starts, here + n - 1)
        if n >= shortest:
            kept = here[(number[here] > 0) & (n > marks[here])]
            rows[first[kept] + n] = hashes[kept] % np.uint32(buckets)
    return np.add.reduceat(number, ends - lengths), rows


def _take_character(
    hashes: np.ndarray, here: np.ndarray, data: np.ndarray, starts: np.ndarray, character: np.ndarray
) -> None:
    """Takes the bytes of one more character into the hashes of the n-grams that begin `here`."""
    width = starts[character + 1] - starts[character]
    for at in range(int(width.max(initial=0))):
        longer = width > at
        signed = data[starts[character[longer]] + at].astype(np.int32).view(np.uint32)
        hashes[here[longer]] = (hashes[here[longer]] ^ signed) * PRIME
