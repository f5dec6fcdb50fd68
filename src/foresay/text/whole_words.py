"""Which symbols are pieces of one word: letters go on after letters, digits after digits, all else stands alone.

    " walk" "ing" "," " 12" "34"   ->   walking | , | 1234

A symbol continues the word of the one before it when it opens with what that one closes with: a letter (or a byte of
one) after a letter, a digit after a digit. Chinese characters are words by themselves. Tokens of whole words have no
blank in any symbol: there each symbol is a word.

symbols (V) -> edges (V, 2): what each opens and closes with, 0 for what joins nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import numpy as np

from foresay.text.segment import HAN
from foresay.text.tokens import SPECIALS

NOTHING, LETTER, DIGIT = range(3)
_HAN = re.compile(f"[{HAN}]")
_BYTE = re.compile(r"<0x[0-9A-F]{2}>")


def word_edges(symbols: Sequence[str]) -> np.ndarray:
    """What each symbol opens and closes with, (V, 2)."""
    edges = np.zeros((len(symbols), 2), np.int64)
    own = symbols[len(SPECIALS) :]
    if any(letter.isspace() for symbol in own for letter in symbol):
        for row, symbol in enumerate(own, len(SPECIALS)):
            edges[row] = _opens(symbol), _closes(symbol)
    return edges


def _opens(symbol: str) -> int:
    return LETTER if _BYTE.match(symbol) else _kind(symbol[:1])


def _closes(symbol: str) -> int:
    return LETTER if _BYTE.fullmatch(symbol[-6:]) else _kind(symbol[-1:])


def _kind(letter: str) -> int:
    category = unicodedata.category(letter)[0] if letter else ""
    if category == "N":
        return DIGIT
    return LETTER if category in ("L", "M") and not _HAN.match(letter) else NOTHING
