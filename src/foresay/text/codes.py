"""A text as an array of code points, and classes of characters taken out of it in bulk."""

from __future__ import annotations

import functools

import numpy as np

CODES = 0x110000  # Unicode code points


def codes(text: str) -> np.ndarray:
    """The code points of a text, (T,) of uint32."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def text_of(code: np.ndarray) -> str:
    """The text of code points."""
    return code.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def take_out(code: np.ndarray, gone: np.ndarray) -> str:
    """The text without the characters that are `gone` (bool); a run of them between two words leaves a blank."""
    run = np.flatnonzero(gone & ~np.append(False, gone[:-1]))  # where runs begin, and after them
    after = np.flatnonzero(gone & ~np.append(gone[1:], False)) + 1
    word = ~_spaces()[np.append(code, 0x20)]  # a blank stands beyond both ends
    between = run[word[run - 1] & word[after]]
    code, kept = code.copy(), ~gone
    code[between], kept[between] = 0x20, True
    return text_of(code[kept])


@functools.cache
def _spaces() -> np.ndarray:
    """Of every code point, whether it is white space."""
    return np.array([chr(code).isspace() for code in range(0x3001)] + [False] * (CODES - 0x3001))
