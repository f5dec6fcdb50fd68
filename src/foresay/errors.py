"""A user's mistake: one line that says what was given, what is allowed and the remedy.

The command line prints it and exits with code 2; from Python it is an ordinary exception.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(ValueError):
    """What the user gave cannot work; the message is one line: given, allowed, remedy."""


class TextError(UserError):
    """One of several texts cannot be used: its `number`, from 1, and `why`, for who knows its file and line."""

    def __init__(self, number: int, of: int, why: str):
        super().__init__(f"text {number} of {of} {why}")
        self.number, self.why = number, why


def reason(error: Exception) -> str:
    """Why a file cannot be read, in words: of the system's errors without number and name of the file."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def counted(number: int, noun: str) -> str:
    """`1 text`, `2,000 texts`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def nearest(name: str, allowed: Iterable[str]) -> str:
    """`; did you mean 'lstm'?` for the closest allowed name, or nothing when none is close."""
    close = difflib.get_close_matches(name, list(allowed), n=1, cutoff=0.5)
    return f"; did you mean '{close[0]}'?" if close else ""
