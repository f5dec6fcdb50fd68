"""Symbols for a person: what cannot be seen gets a sign.

⏎ newline, ⇥ tab, ␛ escape and so on, <U+2028> for what has no sign; of a symbol that stands alone ␣ for a blank, too.
"""

from __future__ import annotations

import unicodedata

_SIGNS = {"\n": "⏎", "\t": "⇥", "\x7f": "␡", " ": "␣"}
_HIDDEN = ("Cc", "Cs", "Zl", "Zp")  # would move the cursor or break the line, or have no UTF-8


def visible(symbol: str, most: int | None = None) -> str:
    """A symbol that stands alone, cut to `most` characters; '' where it is empty."""
    shown = "".join(_sign(c) if c == " " or not c.isprintable() else c for c in symbol) or "''"
    return shown if most is None or len(shown) <= most else shown[: most - 1] + "…"


def visible_text(text: str) -> str:
    """A stretch of text: its blanks stay, and so does what joins or orders characters."""
    return "".join(_sign(c) if unicodedata.category(c) in _HIDDEN else c for c in text)


def _sign(character: str) -> str:
    code = ord(character)
    return _SIGNS.get(character) or (chr(0x2400 + code) if code < 0x20 else f"<U+{code:04X}>")
