"""Series of numbers: which files, which of their columns, and what is held out for validation.

`train`, `valid` and `test` are each

    x.csv  x.npy  x.jsonl  folder/     series (series_files.py)
    builtin:sunspots                   series that come along; they bring their own valid and test

Without `valid` a share of train is held out: of fewer than 20 series the end of each, whose beginning is read for
context and counts nothing; of more, whole series chosen by the seed. `holdout` says which: tail or series.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from foresay.data import builtin
from foresay.data.made import made_rows
from foresay.data.rows import Rows
from foresay.data.series_files import ALLOWED, ENDINGS, SeriesText, ending_of
from foresay.data.series_form import Music, SeriesForm
from foresay.data.split import Choice
from foresay.errors import UserError
from foresay.parts import Share, Size, part

FEW = 20  # series under which the end of each is held out
Row = tuple[str, np.ndarray, int]


@dataclass(frozen=True)
class SeriesReading:
    """Which columns of tables are read, and the one that says which series a line is of; of films [rows, columns]."""

    columns: list[str | int] | None = None
    by: str | None = None
    grid: list[Size] | None = None


@part("data", "series")
class Series(Rows):
    """Series of numbers from tables, arrays and lists: (T, D), a step a line."""

    unit = "series"
    serves = ("series",)
    beside: ClassVar[dict[str, str]] = {"tokens": "numbers", "train.batches": "series"}
    form: SeriesForm | None = None  # what the series must be like: a trained model's

    def __init__(
        self,
        train: str,
        valid: str | None = None,
        test: str | None = None,
        share: Share = 0.1,
        holdout: Literal["auto", "tail", "series"] = "auto",
        read: SeriesReading = SeriesReading(),  # noqa: B008 - frozen
    ):
        self.train, self.valid, self.test, self.share, self.read = train, valid, test, share, read
        self.holdout = holdout

    def brought(self, place: str, name: str, seed: int) -> SeriesText | None:
        if not place.startswith(builtin.PREFIX):
            return None
        made = made_rows("series", place, seed)
        if name not in made:
            return None
        alone = (place.removeprefix(builtin.PREFIX),) if made[name][0][0].shape[1] == 1 else ()
        return SeriesText(f"{place} ({name})", made=made[name], columns=alone)

    def opened(self, setting: str, place: str) -> SeriesText:
        path = Path(place).expanduser()
        if not path.exists():
            raise builtin.no_such(setting, place)
        if path.is_file() and ending_of(path) not in (*ENDINGS, ".txt", ".dat", ""):
            raise UserError(f"{setting}={place!r} is no series; allowed: {ALLOWED}")
        named = self.form is not None and self.read.columns is None
        wanted: list[str | int] | None = list(self.form.columns) if self.form and named else self.read.columns
        return SeriesText(str(path), path, wanted=_by_number(wanted), by=self.read.by)

    def music_of(self, found: dict[str, Any]) -> Music | None:
        """Of piano rolls what they are; these are none."""
        return None

    def grid_of(self, width: int) -> tuple[int, int] | None:
        """Of films the rows and columns of a frame, which a step has all pixels of."""
        grid = getattr(self.read, "grid", None)
        if grid is None:
            return None
        if len(grid) != 2 or grid[0] * grid[1] != width:
            raise UserError(f"data.grid={grid}, and a step has {width} numbers; allowed: [rows, columns] of so many")
        return grid[0], grid[1]

    def rows(self, name: str, seed: int, found: dict[str, Any] | None = None) -> Iterator[Row]:
        found = found or self.find(seed)
        if name not in ("train", "valid") or not self.holds_out(found):
            yield from found.get(name, ())
            return
        held, text = name == "valid", found["train"]
        if self.at_the_end(text):
            for where, values, begin in text:
                cut = _cut(begin, len(values), self.share)
                if not held:
                    yield where, values[:cut], begin
                elif cut < len(values):
                    yield where, values, cut
            return
        choice = Choice(seed, 0, self.share, held=held)
        for number, row in enumerate(text):
            if choice.chosen(number, 1)[0]:
                yield row

    def at_the_end(self, text: SeriesText) -> bool:
        """Whether the end of every series is held out, not whole ones."""
        few = self.holdout == "auto" and len(list(islice((None for _ in text), FEW))) < FEW
        return self.holdout == "tail" or few

    def another(self, place: str, read: SeriesReading, form: SeriesForm) -> Series:
        """Other series, read as these were and held to the columns of a trained model."""
        other = type(self)(place, share=0.0, read=read)
        other.form = form
        return other


def _by_number(names: list[str | int] | None) -> list[str | int] | None:
    """Columns named 1, 2, ... have no names: they are told by their numbers."""
    if names is None or any(str(name) != str(number) for number, name in enumerate(names, 1)):
        return names
    return list(range(1, len(names) + 1))


def _cut(begin: int, steps: int, share: float) -> int:
    """Where the held-out end of a series begins; one step is left at least, and one held out where there are two."""
    left = steps - begin
    return begin + (min(max(round(left * (1 - share)), 1), left - 1) if left > 1 else left)
