"""Lines of text that are a word and numbers -> an array, compiled by numba when it is first called.

A number is digits with at most one point and an exponent; its first 18 digits are taken as a whole number and scaled by
a power of ten in float64. A float32 cannot tell that from the exact value, but for one in 2^29 that lies in the middle
of two. NaN and infinity are mistakes. Without numba's compiler (NUMBA_DISABLE_JIT=1) it runs as plain Python.
"""

from __future__ import annotations

import numpy as np
from numba import njit

FINE, NO_NUMBER, TOO_FEW, TOO_MANY, TOO_LARGE = range(5)
BLANK, TAB, RETURN, NEWLINE, PLUS, MINUS, POINT = 32, 9, 13, 10, 43, 45, 46
DIGITS = 18  # that a signed number of 64 bits holds whatever they are
POWERS = 10.0 ** np.arange(309)
LIMIT = 2.0**128 - 2.0**103  # from here on a float32 rounds to infinity


@njit(cache=True, nogil=True)
def read_rows(block: np.ndarray, values: np.ndarray, spans: np.ndarray) -> tuple[int, int, int, int]:
    """Bytes that end with a line's end -> values (rows, width), and of each row its word's begin, end and line.

    Stops at the first mistake, or when `values` is full: how many rows were read, how many lines were passed, where it
    stopped (in a line with too few numbers: how many there were), and what is wrong there.
    """
    at, row, line = 0, 0, 0
    while at < len(block):
        at = _skip(block, at)
        if block[at] == NEWLINE:
            at, line = at + 1, line + 1
            continue
        if row == len(values):
            break
        spans[row, 0], spans[row, 2] = at, line
        at = _end(block, at)
        spans[row, 1] = at
        for column in range(values.shape[1]):
            at = _skip(block, at)
            if block[at] == NEWLINE:
                return row, line, column, TOO_FEW
            value, after = _number(block, at)
            if after < 0 or not _is_blank(block[after]):
                return row, line, at, NO_NUMBER
            if abs(value) >= LIMIT:
                return row, line, at, TOO_LARGE
            values[row, column] = value
            at = after
        at = _skip(block, at)
        if block[at] != NEWLINE:
            return row, line, at, TOO_MANY
        at, line, row = at + 1, line + 1, row + 1
    return row, line, at, FINE


@njit(cache=True, nogil=True)
def _is_blank(byte: int) -> bool:
    return byte in (BLANK, NEWLINE, TAB, RETURN)


@njit(cache=True, nogil=True)
def _skip(block: np.ndarray, at: int) -> int:
    """Where the line goes on after its blanks, or ends."""
    while block[at] != NEWLINE and _is_blank(block[at]):
        at += 1
    return at


@njit(cache=True, nogil=True)
def _end(block: np.ndarray, at: int) -> int:
    """Where the word that begins here ends."""
    while not _is_blank(block[at]):
        at += 1
    return at


@njit(cache=True, nogil=True)
def _number(block: np.ndarray, at: int) -> tuple[float, int]:
    """The number that begins here and where it ends; -1 where there is none."""
    negative = block[at] == MINUS
    if negative or block[at] == PLUS:
        at += 1
    whole, digits, kept, scale, point = 0, 0, 0, 0, False
    while True:
        byte = int(block[at])
        if 48 <= byte <= 57:
            digits += 1
            if kept < DIGITS:
                whole = whole * 10 + (byte - 48)
                kept += whole > 0
                scale -= point
            else:
                scale += not point
        elif byte == POINT and not point:
            point = True
        else:
            break
        at += 1
    if digits == 0:
        return 0.0, -1
    if block[at] == 101 or block[at] == 69:  # e E
        exponent, at = _exponent(block, at + 1)
        scale += exponent
    value = _scaled(float(whole), scale)
    return (-value if negative else value), at


@njit(cache=True, nogil=True)
def _exponent(block: np.ndarray, at: int) -> tuple[int, int]:
    negative = block[at] == MINUS
    if negative or block[at] == PLUS:
        at += 1
    begin, exponent = at, 0
    while 48 <= block[at] <= 57:
        exponent = min(exponent * 10 + (int(block[at]) - 48), 100_000)
        at += 1
    return (-exponent if negative else exponent), (at if at > begin else -1)


@njit(cache=True, nogil=True)
def _scaled(whole: float, scale: int) -> float:
    """whole * 10^scale, 0 or infinite where no float32 is that small or that large."""
    if whole == 0.0 or scale < -308:
        return 0.0
    if scale < 0:
        return whole / POWERS[-scale]
    return whole * POWERS[scale] if scale <= 38 else np.inf
