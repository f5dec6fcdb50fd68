"""Words as rows of numbers: the bytes of their UTF-8, between a mark where a word begins and one where it ends.

    0        nothing: after the end
    1, 2     begins, ends
    3 ... 7  the marks <pad> <unk> <start> <stop> <mask>
    8 + b    the byte b

So no word has an unknown character, and the alphabet is the same for every text (as in ELMo, Peters et al. 2018). A
word of more than `longest` bytes is cut.

words (N) -> numbers (N, longest + 2).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from foresay.text.tokens import SPECIALS

BEGINS, ENDS, MARKS, BYTES = 1, 2, 3, 8
ALPHABET = BYTES + 256


def numbered(words: Sequence[str], longest: int) -> np.ndarray:
    """The numbers of words as texts have them; a word that is spelt like a mark is a word."""
    found = np.zeros((len(words), longest + 2), np.int16)
    for row, word in zip(found, words, strict=True):
        _write(row, [BYTES + byte for byte in word.encode("utf-8", "surrogatepass")[:longest]])
    return found


def numbered_symbols(symbols: Sequence[str], longest: int) -> np.ndarray:
    """The numbers of a vocabulary, whose first symbols are the marks: each of these is one letter of its own."""
    found = numbered(symbols, longest)
    for mark, row in enumerate(found[: len(SPECIALS)]):
        row[:] = 0
        _write(row, [MARKS + mark])
    return found


def _write(row: np.ndarray, letters: list[int]) -> None:
    row[: len(letters) + 2] = [BEGINS, *letters, ENDS]
