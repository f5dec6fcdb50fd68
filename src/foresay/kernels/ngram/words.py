"""Looking words up in the bytes of a text. counts/words.py says what for.

Eight bytes are one number, so a word of at most eight is known by its number and its length; a longer one is found by a
mix of its numbers and compared in full. Texts and words are padded with zeros to whole numbers, and one more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from foresay.kernels.ngram.loop import Row, inner, lean_loop
from foresay.kernels.ngram.machine import zeros_below

ONE, TURN, BACK, HALF = np.uint64(1), np.uint64(25), np.uint64(39), np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
TOPS, ABOVE = np.uint64(0x8080808080808080), np.uint64(0x2121212121212121)  # of each byte the top bit; blank + 1
FACTOR, SHIFT = np.uint64(0x9E3779B1), np.uint64(20)  # a golden ratio's: neighbours fall far apart


class Text(NamedTuple):
    """Rows of bytes."""

    bytes: np.ndarray
    eights: np.ndarray  # the same as uint64
    begins: np.ndarray  # where each row begins, and at the end where the last one ends


class Words(NamedTuple):
    """A vocabulary by its letters."""

    slots: np.ndarray  # uint64: the word's number; its id and length, 0 in a free one
    eights: np.ndarray  # uint64: words one after the other, each from a whole number on
    begins: np.ndarray  # where the word of each id begins there
    unknown: int  # the id of all others
    stop: int  # the id that ends a row


@inner
def _eight(eights: np.ndarray, at: int) -> np.uint64:
    """The eight bytes from `at` on, the first one lowest."""
    shift = np.uint64((at & 7) * 8)
    return (eights[Row(at >> 3)] >> shift) | ((eights[Row((at >> 3) + 1)] << ONE) << (np.uint64(63) - shift))


@inner
def _cut(eight: np.uint64, left: int) -> np.uint64:
    """Its first `left` bytes."""
    return eight if left >= 8 else eight & ((ONE << np.uint64(8 * left)) - ONE)


@inner
def _number_of(eights: np.ndarray, begin: int, length: int) -> np.uint64:
    number = _cut(_eight(eights, begin), length)
    for at in range(8, length, 8):
        number = ((number << TURN) | (number >> BACK)) ^ _cut(_eight(eights, begin + at), length - at)
    return number


@inner
def _first_slot(number: np.uint64, slots: np.ndarray) -> int:
    return int((((number ^ (number >> HALF)) & LOW) * FACTOR) >> SHIFT) & (len(slots) - 1)


@lean_loop
def place_words(ids: np.ndarray, lengths: np.ndarray, words: Words) -> None:
    """Gives every word a slot."""
    for id_, length in zip(ids, lengths):  # noqa: B905 - numba knows no strict
        number = _number_of(words.eights, 8 * words.begins[id_], length)
        slot = _first_slot(number, words.slots)
        while words.slots[Row(slot), 1]:
            slot = (slot + 1) & (len(words.slots) - 1)
        words.slots[Row(slot), 0] = number
        words.slots[Row(slot), 1] = (np.uint64(id_) << HALF) | np.uint64(length)


def spelt_words(known: dict[str, int], number: int, unknown: int, stop: int) -> Words:
    """Words and their ids, below `number`, by their letters."""
    spelt = [word.encode("utf-8", "surrogatepass") for word in known]
    ids, lengths = np.array(list(known.values())), np.array([len(word) for word in spelt])
    begins = np.zeros(number, np.int64)
    begins[ids[1:]] = np.cumsum(-(-lengths // 8))[:-1]
    eights = np.frombuffer(
        b"".join([word.ljust(-(-len(word) // 8) * 8, b"\0") for word in spelt]) + bytes(16), np.uint64
    )
    slots = np.zeros((1 << (3 * len(spelt) // 2).bit_length(), 2), np.uint64)
    found = Words(slots, eights, begins, unknown, stop)
    place_words(ids, lengths, found)
    return found


@lean_loop
def _same(eights: np.ndarray, begin: int, length: int, others: np.ndarray, first: int) -> bool:
    at = 0
    while at < length and _cut(_eight(eights, begin + at), length - at) == others[first + (at >> 3)]:
        at += 8
    return at >= length


@inner
def _id_of(
    text: np.ndarray, begin: int, length: int, slots: np.ndarray, eights: np.ndarray, begins: np.ndarray, unknown: int
) -> int:
    number = _number_of(text, begin, length)
    slot = _first_slot(number, slots)
    while slots[Row(slot), 1]:
        entry = slots[Row(slot), 1]
        if slots[Row(slot), 0] == number and int(entry & LOW) == length:
            id_ = int(entry >> HALF)
            if length <= 8 or _same(text, begin, length, eights, begins[id_]):
                return id_
        slot = (slot + 1) & (len(slots) - 1)
    return unknown


@inner
def _plain(eight: np.uint64) -> int:
    """How many letters of ASCII stand in front: bytes above the blank and below 128."""
    others = (~((eight | TOPS) - ABOVE) | eight) & TOPS
    return zeros_below(others) >> 3 if others else 8


@inner
def _blank(text: np.ndarray, at: int) -> int:
    """How many bytes the white space has that begins here, as Python's `split` has it; 0 where there is none."""
    first = text[Row(at)]
    if first > 32:
        return 0 if first < 0xC2 else _wide_blank(first, text[at + 1], text[at + 2])
    return 1 if first == 32 or 9 <= first <= 13 or 28 <= first <= 31 else 0


@lean_loop
def _wide_blank(first: int, second: int, third: int) -> int:
    """White space beyond ASCII: U+85, U+A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000."""
    if first == 0xC2:
        return 2 if second == 0x85 or second == 0xA0 else 0
    if first == 0xE2 and second == 0x80:
        return 3 if 0x80 <= third <= 0x8A or third == 0xA8 or third == 0xA9 or third == 0xAF else 0
    if first == 0xE1:
        return 3 if second == 0x9A and third == 0x80 else 0
    if first == 0xE2:
        return 3 if second == 0x81 and third == 0x9F else 0
    return 3 if first == 0xE3 and second == 0x80 and third == 0x80 else 0


@lean_loop
def find_words(low: int, high: int, text: Text, words: Words, found: np.ndarray, stops: np.ndarray) -> None:
    """The ids of rows of a text, each with the stop at its end, and where each row ends among them."""
    letters, text_eights, rows = text
    slots, eights, begins, unknown, stop = words
    to = 0
    for row in range(low, high):
        at, end = rows[row], rows[row + 1]
        while at < end:
            blank = _blank(letters, at)
            if blank:
                at += blank
                continue
            begin = at
            at = min(at + _plain(_eight(text_eights, at)), end)
            while at < end and not _blank(letters, at):
                at += 1
            found[to] = _id_of(text_eights, begin, at - begin, slots, eights, begins, unknown)
            to += 1
        found[to] = stop
        to += 1
        stops[row - low] = to
