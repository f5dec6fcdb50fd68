"""Which pieces of words are frequent: the seeds of a unigram vocabulary.

Pieces of n + 1 bytes are found from those of n: the number of the first n bytes and one byte more make the next number.
A piece is a candidate when it is seen at least twice, is not always followed by the same byte of its word (then the
longer one says it all), and is made of whole characters or lies within one. Those with the largest count times
length are kept, after all 256 single bytes, which are the pieces 0-255.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LONGEST = 16  # bytes of a piece


@dataclass(frozen=True)
class Seeds:
    """Pieces by number: how often each is seen, where one of them begins, its length; and where all of them are."""

    count: np.ndarray
    begin: np.ndarray
    length: np.ndarray
    piece_at: np.ndarray  # (bytes, LONGEST): the piece of 1, 2, ... bytes that begins here, or -1


@dataclass(frozen=True)
class Level:
    """All pieces of one length: how often each is seen, the places where they begin, and which one begins there."""

    count: np.ndarray
    where: np.ndarray
    piece: np.ndarray


def seeds(content: np.ndarray, lengths: np.ndarray, counts: np.ndarray, most: int) -> Seeds:
    """At most `most` frequent pieces, and all bytes, of words that lie end to end in `content` (bytes)."""
    levels = _levels(content, lengths, counts)
    count = np.concatenate([level.count for level in levels])
    length = np.repeat(np.arange(1, len(levels) + 1), [len(level.count) for level in levels])
    order = np.argsort(-count * length * (length > 1), kind="stable")  # equal ones: by length, then by their bytes
    chosen = np.sort(order[: int((count[256:] > 0).sum())][:most])
    number = np.full(len(count), -1, np.int32)
    number[:256] = np.arange(256)
    number[chosen] = np.arange(256, 256 + len(chosen))
    begin = np.zeros(256 + len(chosen), np.int64)
    piece_at = np.full((len(content), LONGEST), -1, np.int32)
    offset = 0
    for n, level in enumerate(levels):
        pieces = number[offset + level.piece]
        piece_at[level.where, n] = pieces
        begin[pieces[pieces >= 0]] = level.where[pieces >= 0]
        offset += len(level.count)
    return Seeds(np.append(count[:256], count[chosen]), begin, np.append(np.ones(256, int), length[chosen]), piece_at)


def _levels(content: np.ndarray, lengths: np.ndarray, counts: np.ndarray) -> list[Level]:
    """The pieces of 1, 2, ... bytes; one that is no candidate has the count 0."""
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(content))  # bytes to the end of the word
    often = np.repeat(counts, lengths)
    starts = np.append(content & 0xC0 != 0x80, True)  # of a character
    inside = np.cumsum(starts)
    where, piece = np.arange(len(content)), content.astype(np.int64)
    levels = [Level(np.bincount(piece, often, 256), where, piece)]
    for n in range(2, LONGEST + 1):
        follows = left[where] >= n
        where, piece = where[follows], piece[follows]
        longer, made = np.unique(piece * 256 + content[where + n - 1], return_inverse=True)
        count = np.bincount(made, often[where], len(longer))
        if n > 2:
            _drop_always_followed(levels[-1].count, longer // 256, count)
        kept = count[made] >= 2
        where, piece = where[kept], made[kept]
        whole = starts[where] & ((left[where] == n) | starts[where + n]) | (inside[where] == inside[where + n - 1])
        count[np.bincount(piece[whole], minlength=len(count)) == 0] = 0
        levels.append(Level(count, where[whole], piece[whole]))
    return levels


def _drop_always_followed(count: np.ndarray, shorter: np.ndarray, longer_count: np.ndarray) -> None:
    heaviest = np.zeros(len(count))
    np.maximum.at(heaviest, shorter, longer_count)
    count[heaviest == count] = 0
