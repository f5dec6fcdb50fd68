"""The lines of an ARPA file as bytes. counts/arpa.py says what they are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from foresay.kernels.ngram.loop import lean_loop

ZERO, POINT, MINUS, PLUS, E = b"0.-+e"
TAB, BLANK, END = b"\t \n"
DIGITS = 7  # that matter
NUMBER = 16  # bytes of one, at most
POWERS = 10.0 ** np.arange(20)


class Spelt(NamedTuple):
    """Words as bytes, one after the other."""

    letters: np.ndarray
    begins: np.ndarray  # where the word of each id begins, and at the end where the last one ends


class Lines(NamedTuple):
    """What the lines say of each n-gram."""

    word: np.ndarray
    log_prob: np.ndarray
    back: np.ndarray  # of contexts
    first: np.ndarray  # where the children of each context begin
    shown: np.ndarray  # of the words those that have a line
    unit: float  # what the logarithms are divided by
    least: float  # what no logarithm is below


@lean_loop
def spell_number(value: float, out: np.ndarray, to: int) -> int:
    """A number below 10,000 as `%.7g` writes it; where it ends."""
    left, power, shift = abs(value), 0, 0
    if np.signbit(value):
        out[to] = MINUS
        to += 1
    if left == 0.0:
        return _spell_digits(0, 1, out, to)
    while left < 1e-10:
        left *= 1e10
        power -= 10
    while left >= POWERS[shift + 1]:
        shift += 1
    while left * POWERS[-shift] < 1.0:
        shift -= 1
    digits, count = int(np.rint(left * POWERS[DIGITS - 1 - shift])), DIGITS
    power += shift
    if digits == 10**DIGITS:  # 9.9999999 is 10
        digits, count, power = 1, 1, power + 1
    while digits % 10 == 0:
        digits //= 10
        count -= 1
    if power < -4:
        return _spell_with_power(digits, count, power, out, to)
    if power < 0:
        out[to], out[to + 1], out[to + 2 : to + 1 - power] = ZERO, POINT, ZERO
        return _spell_digits(digits, count, out, to + 1 - power)
    if count <= power + 1:
        return _spell_digits(digits * 10 ** (power + 1 - count), power + 1, out, to)
    return _spell_point(digits, count, power + 1, out, to)


@lean_loop
def _spell_digits(digits: int, count: int, out: np.ndarray, to: int) -> int:
    for at in range(to + count - 1, to - 1, -1):
        out[at] = ZERO + digits % 10
        digits //= 10
    return to + count


@lean_loop
def _spell_point(digits: int, count: int, before: int, out: np.ndarray, to: int) -> int:
    """With so many digits before the point."""
    split = 10 ** (count - before)
    to = _spell_digits(digits // split, before, out, to)
    out[to] = POINT
    return _spell_digits(digits % split, count - before, out, to + 1)


@lean_loop
def _spell_with_power(digits: int, count: int, power: int, out: np.ndarray, to: int) -> int:
    to = _spell_point(digits, count, 1, out, to) if count > 1 else _spell_digits(digits, 1, out, to)
    out[to], out[to + 1] = E, MINUS
    return _spell_digits(-power, 2, out, to + 2)


@lean_loop
def _spell_word(word: int, spelt: Spelt, out: np.ndarray, to: int) -> int:
    for at in range(spelt.begins[word], spelt.begins[word + 1]):
        out[to] = spelt.letters[at]
        to += 1
    return to


@lean_loop
def spell_lines(
    at: int, end: int, path: np.ndarray, longest: int, lines: Lines, spelt: Spelt, out: np.ndarray
) -> tuple[int, int]:
    """Lines of n-grams from `at` on, as many as have room when none is above `longest`; who is next, and bytes used.

    `path` are the contexts of 1, 2, ... words that `at` or one before it lies in, before and after.
    """
    to = 0
    while at < end and to + longest <= len(out):
        if at <= len(lines.shown) and not lines.shown[at - 1]:
            at += 1
            continue
        inner = at
        for depth in range(len(path) - 1, -1, -1):
            while lines.first[path[depth] + 1] <= inner:
                path[depth] += 1
            inner = path[depth]
        to = spell_number(_bounded(lines.log_prob[at], lines), out, to)
        out[to] = TAB
        to += 1
        for context in path:
            to = _spell_word(lines.word[context], spelt, out, to)
            out[to] = BLANK
            to += 1
        to = _spell_word(lines.word[at], spelt, out, to)
        if at < len(lines.back):
            out[to] = TAB
            to = spell_number(_bounded(lines.back[at], lines), out, to + 1)
        out[to] = END
        to += 1
        at += 1
    return at, to


@lean_loop
def _bounded(value: float, lines: Lines) -> float:
    return min(max(value / lines.unit, lines.least), -lines.least)
