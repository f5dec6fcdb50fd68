"""Rows with an answer (pairs, labels, tags): which parts there are, and what of train is held out for validation."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress, islice
from pathlib import Path
from typing import Any

import numpy as np

from foresay.data import builtin
from foresay.data.split import Choice, reached, uniform
from foresay.errors import UserError

BLOCK = 4096
PARTS = ("train", "valid", "test")


class Rows:
    """What every kind of rows keeps: `find` opens the texts, `rows` walks through those of one part."""

    unit = "line"
    train: Any
    valid: Any
    test: Any
    share: float

    def find(self, seed: int) -> dict[str, Any]:
        """The texts of train and, where they are given or brought along, of valid and test."""
        found = {}
        for name, place in zip(PARTS, (self.train, self.valid, self.test), strict=True):
            opened = self.brought(self.train if place is None else place, name, seed)
            if opened is None and place is not None:
                opened = self.opened(f"data.{name}", place)
            if opened is not None:
                found[name] = opened
        return found

    def brought(self, place: str, name: str, seed: int) -> Any:
        """The part `name` of a place that brings several; None where it brings none."""
        raise AssertionError

    def opened(self, setting: str, place: str) -> Any:
        """The text of what a setting names: a file."""
        return self.of_file(file_of(setting, place))

    def of_file(self, path: Path) -> Any:
        """The text of a file that a setting names."""
        raise AssertionError

    @property
    def together(self) -> int:
        """How many rows in a run are held out together."""
        return 1

    def holds_out(self, found: dict[str, Any]) -> bool:
        """Whether some of train are kept for validation."""
        return "valid" not in found and self.share > 0

    def rows(self, name: str, seed: int, found: dict[str, Any] | None = None) -> Iterator[Any]:
        """The rows of one part, in order; without valid of its own, that is a share of train chosen by the seed.

        Of few rows at least one is held out and one is kept.
        """
        found, run = found or self.find(seed), self.together
        if name not in ("train", "valid") or not self.holds_out(found):
            yield from found.get(name, ())
            return
        share, rows, first = self.share, iter(found["train"]), 0
        while block := list(islice(rows, BLOCK)):
            if first == 0 and len(block) < BLOCK:
                share = reached(share, [uniform(seed, 0, 0, -(-len(block) // run))])
            choice = Choice(seed, 0, share, held=name == "valid")
            chosen = choice.chosen(first // run, -(-len(block) // run))
            yield from compress(block, np.repeat(chosen, run)[: len(block)])
            first += len(block)


def file_of(setting: str, name: str) -> Path:
    """The file that a setting names."""
    path = Path(name).expanduser()
    if path.is_dir():
        raise UserError(
            f"{setting}={name!r} is a folder; allowed: one file, or the name of a known set: name a file in it"
        )
    if not path.is_file():
        raise builtin.no_such(setting, name)
    return path
