"""A request to write on, checked: what `run.generate` was asked, for who writes it alone or beside others.

A row's text depends on its prompt, the seed and its number alone (generate.py), so both get the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from foresay.decode.generate import Writing
from foresay.decode.sample import Decoder


@dataclass(frozen=True)
class Asked:
    """`number` texts that go on from a prompt."""

    prompt: str
    ids: list[int]  # the prompt's
    number: int
    decoder: Decoder
    how: Writing
    stops: list[str]
    label: int | None = None  # the number of the label they are written for
