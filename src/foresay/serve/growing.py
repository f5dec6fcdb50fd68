"""A text as it grows: what may already be shown of it, so that all pieces together are the text.

Held back until it is sure: half a character (U+FFFD at the end), and the beginning of a string that would end the text.
"""

from __future__ import annotations

from collections.abc import Sequence

from foresay.decode.asked import Asked
from foresay.run import Run

BROKEN = "\ufffd"


def text_of(run: Run, asked: Asked, row: Sequence[int], *, echo: bool) -> str:
    """Of a request what was written, after the prompt or with it."""
    whole = run.joined(asked.prompt, asked.ids, list(row), asked.stops)
    if echo:
        return whole
    if whole.startswith(asked.prompt):
        return whole[len(asked.prompt) :]
    begun = run.tokens.decode(asked.ids)  # the last blank gave way to what follows, or half a character stood there
    return whole[max(_shared(whole, one) for one in (asked.prompt, begun)) :]


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


class Growing:
    """One text of a request; `add` gives what can be shown after further tokens, `rest` what is left at the end."""

    def __init__(self, run: Run, asked: Asked, *, echo: bool = False):
        self.run, self.asked, self.echo = run, asked, echo
        self.row: list[int] = []
        self.shown = ""

    def add(self, *ids: int) -> str:
        self.row += ids
        return self._more(self._sure(text_of(self.run, self.asked, self.row, echo=self.echo)))

    def rest(self) -> str:
        return self._more(text_of(self.run, self.asked, self.row, echo=self.echo))

    def _more(self, text: str) -> str:
        if not text.startswith(self.shown) or len(text) == len(self.shown):
            return ""
        more, self.shown = text[len(self.shown) :], text
        return more

    def _sure(self, text: str) -> str:
        text = text.rstrip(BROKEN)
        held = 0
        for stop in self.asked.stops:
            held = max([held, *(size for size in range(1, len(stop)) if text.endswith(stop[:size]))])
        return text[: len(text) - held]
