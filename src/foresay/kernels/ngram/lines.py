"""The lines of an ARPA file from bytes. counts/arpa.py says what they are.

A line is taken when it is written as all tools write it: a number, n known words, perhaps a number, one blank or tab
between them. The first that is not, for whatever reason, is left to Python, which takes it or says what is wrong.
Numbers have the bits that Python's `float` gives: up to 15 digits and a power of ten up to 22 are divided once.
"""

from __future__ import annotations

import numpy as np

from foresay.kernels.ngram.loop import Row, inner, lean_loop
from foresay.kernels.ngram.words import Words, _blank, _id_of

ZERO, NINE, POINT, MINUS, PLUS, E = b"09.-+e"
TAB, BLANK, END = b"\t \n"
DIGITS = 15  # a whole number of so many has its own float64
POWERS = 10.0 ** np.arange(23)  # so has each of these
MOST = 1e-6  # a logarithm of a probability, rounded by whoever wrote it


@inner
def _number(letters: np.ndarray, at: int) -> tuple[float, int]:
    """The number that stands here, and where it ends; -1 where it is none, or one for Python."""
    negative = letters[Row(at)] == MINUS
    at += negative
    whole, digits, power, seen = 0, 0, 0, 0
    while True:
        letter = int(letters[Row(at)])
        if ZERO <= letter <= NINE:
            whole = 10 * whole + letter - ZERO
            digits += whole > 0
            power -= seen
        elif letter == POINT and not seen:
            seen = 1
        else:
            break
        if digits > DIGITS:
            return 0.0, -1
        at += 1
    before = letters[Row(at - 1)]
    if not (ZERO <= before <= NINE):
        return 0.0, -1
    if letter == E:
        below = letters[Row(at + 1)] == MINUS
        at += 2 if below or letters[Row(at + 1)] == PLUS else 1
        begin, shift = at, 0
        while ZERO <= letters[Row(at)] <= NINE and at - begin < 3:
            shift = 10 * shift + int(letters[Row(at)]) - ZERO
            at += 1
        if at == begin:
            return 0.0, -1
        power += -shift if below else shift
    if power < -22 or power > 22:
        return 0.0, -1
    value = whole / POWERS[-power] if power < 0 else whole * POWERS[power]
    return (-value if negative else value), at


@lean_loop
def read_lines(
    letters: np.ndarray,
    eights: np.ndarray,
    at: int,
    end: int,
    n: int,
    backs_off: bool,
    words: Words,
    ids: np.ndarray,
    probs: np.ndarray,
    backs: np.ndarray,
) -> tuple[int, int]:
    """Takes whole lines from `at` to `end`; where the first begins that was not taken, and how many were."""
    slots, spelt, begins, unknown, _ = words
    taken = 0
    while at < end:
        prob, place = _number(letters, at)
        if place < 0 or not prob <= MOST:
            break
        right = True
        for word in range(n):
            right = letters[Row(place)] == TAB or letters[Row(place)] == BLANK
            begin = place + 1
            place = begin
            while right and not _blank(letters, place):
                place += 1
            if not right or place == begin:
                right = False
                break
            found = _id_of(eights, begin, place - begin, slots, spelt, begins, unknown)
            ids[Row(taken * n + word)] = found
            if found == unknown:
                right = False
                break
        if not right:
            break
        back = 0.0
        if backs_off and (letters[Row(place)] == TAB or letters[Row(place)] == BLANK):
            back, place = _number(letters, place + 1)
        if place < 0 or letters[Row(place)] != END:
            break
        probs[taken], backs[taken] = prob, back
        taken += 1
        at = place + 1
    return at, taken
