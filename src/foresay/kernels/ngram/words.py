"""Looking words up in bytes. counts/words.py says what for."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, inline="always")
def _is_blank(byte: int) -> bool:
    """White space of ASCII, as Python's `split` has it."""
    return byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31


@njit(cache=True, nogil=True, inline="always")
def _hashed(text: np.ndarray, begin: int, end: int) -> int:
    found = 0
    for at in range(begin, end):
        found = (found * 31 + np.int64(text[at])) & 0xFFFFFFF
    return int((found ^ (found >> 13)) & 0xFFFFFFF)


@njit(cache=True, nogil=True)
def place_words(words: np.ndarray, begins: np.ndarray, slots: np.ndarray) -> None:
    """Gives every word (bytes, one after the other) a slot by its letters; -1 is a free one."""
    for word in range(len(begins) - 1):
        slot = _hashed(words, begins[word], begins[word + 1]) & (len(slots) - 1)
        while slots[slot] >= 0:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = word


@njit(cache=True, nogil=True)
def count_words(low: int, high: int, text: np.ndarray, ends: np.ndarray, counts: np.ndarray) -> None:
    """How many words stand in each row of a text; rows end where `ends` says."""
    for row in range(low, high):
        blank, found = True, 0
        for at in range(ends[row - 1] + 1 if row else 0, ends[row]):
            now = _is_blank(text[at])
            found += blank and not now
            blank = now
        counts[row] = found


@njit(cache=True, nogil=True)
def find_words(
    low: int,
    high: int,
    text: np.ndarray,
    ends: np.ndarray,
    places: np.ndarray,
    words: np.ndarray,
    begins: np.ndarray,
    slots: np.ndarray,
    ids: np.ndarray,
    unknown: int,
    found: np.ndarray,
) -> None:
    """The id of every word of each row, from its place on in `found`."""
    for row in range(low, high):
        at, to, end = (ends[row - 1] + 1 if row else 0), places[row], ends[row]
        while at < end:
            if _is_blank(text[at]):
                at += 1
                continue
            begin = at
            while at < end and not _is_blank(text[at]):
                at += 1
            slot = _hashed(text, begin, at) & (len(slots) - 1)
            found[to] = unknown
            while slots[slot] >= 0:
                word = slots[slot]
                first, length = begins[word], begins[word + 1] - begins[word]
                same = length == at - begin
                for i in range(length if same else 0):
                    if words[first + i] != text[begin + i]:
                        same = False
                        break
                if same:
                    found[to] = ids[word]
                    break
                slot = (slot + 1) & (len(slots) - 1)
            to += 1
