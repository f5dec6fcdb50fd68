"""Texts that are given in Python: one, or any number of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from foresay.errors import TextError, UserError
from foresay.parts import shown

SHOWN = 60  # characters of what is no text


def listed(texts: Any, allowed: str) -> list[Any]:
    """A text by itself as a list of one, and all that can be gone through as a list."""
    if isinstance(texts, str):
        return [texts]
    if isinstance(texts, bytes) or not isinstance(texts, Iterable):
        raise UserError(f"texts={shown(texts)[:SHOWN]}; allowed: {allowed}")
    return list(texts)


def texts_of(texts: Any) -> list[str]:
    """The same, each of them text."""
    found = listed(texts, "text, or a list of texts")
    for number, one in enumerate(found, 1):
        if not isinstance(one, str):
            raise TextError(number, len(found), f"is {shown(one)[:SHOWN]}; allowed: text")
    return found
