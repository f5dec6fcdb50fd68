"""What series are like: `series.json` in the prepared folder and in the run.

columns     the names of the D numbers of a step
means, deviations, least, most, whole, unknown    of each in train: whole says that all of it is integers, unknown
            the share that is not known
music       of piano rolls: the key that is the first column, and the seconds of a step
grid        of films: the rows and columns of a frame, whose pixels are the columns, row by row
rate        of sounds as frames (mel.py): how many samples a second they were made of; 0 of others
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from foresay.errors import UserError

FILE = "series.json"


@dataclass(frozen=True)
class Music:
    """Of piano rolls: the MIDI number of the key that is the first column, and how long a step is."""

    first: int
    seconds: float


@dataclass(frozen=True)
class SeriesForm:
    """The columns of series, and what is known of each from train."""

    columns: tuple[str, ...]
    means: tuple[float, ...] = ()
    deviations: tuple[float, ...] = ()
    least: tuple[float, ...] = ()
    most: tuple[float, ...] = ()
    whole: tuple[bool, ...] = ()
    unknown: tuple[float, ...] = ()
    music: Music | None = None
    grid: tuple[int, int] | None = None
    rate: int = 0

    @property
    def width(self) -> int:
        return len(self.columns)

    def told(self) -> str:
        """In an error or a note."""
        if self.rate:
            return f"sounds of {self.rate:,} Hz"
        shown = ", ".join(self.columns[:5]) + (", ..." if self.width > 5 else "")
        return f"{self.width} columns ({shown})" if self.width > 1 else f"one column ({shown})"

    def save(self, folder: Path) -> None:
        (folder / FILE).write_text(json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n", "utf-8")

    @classmethod
    def read(cls, folder: Path) -> SeriesForm:
        """What `save` left in a folder."""
        path = folder / FILE
        try:
            found = json.loads(path.read_text("utf-8"))
            music, grid, rate = found.pop("music"), found.pop("grid", None), found.pop("rate", 0)
            columns: dict[str, Any] = {name: tuple(each) for name, each in found.items()}
            form = cls(**columns)
            form = replace(form, music=music and Music(**music), grid=grid and (int(grid[0]), int(grid[1])))
            form = replace(form, rate=int(rate))
            whole = bool(form.width) and {len(each) for each in columns.values()} == {form.width}
            numbers = [*form.means, *form.deviations, *form.least, *form.most, *form.unknown]
            whole = whole and all(isinstance(number, int | float) for number in numbers)
        except FileNotFoundError:
            raise UserError(f"{path} is missing; copy it back") from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            whole, form = False, cls(())
        if not whole:
            raise UserError(f"{path} is damaged; copy it again")
        return form


class Summing:
    """The figures of each column, series by series; sums of float64 around the first known value."""

    def __init__(self, width: int):
        self.begun = np.full(width, np.nan)
        self.count, self.all = np.zeros(width, np.int64), 0
        self.sums, self.squares = np.zeros(width), np.zeros(width)
        self.least, self.most = np.full(width, np.inf), np.full(width, -np.inf)
        self.whole = np.ones(width, bool)

    def add(self, values: np.ndarray) -> None:
        """A series (T, D)."""
        known = ~np.isnan(values)
        first = values[known.argmax(0), np.arange(values.shape[1])] if len(values) else self.begun
        self.begun = np.where(np.isnan(self.begun), first, self.begun)
        apart = np.where(known, values - np.nan_to_num(self.begun), 0.0).astype(np.float64)
        self.count, self.all = self.count + known.sum(0), self.all + len(values)
        self.sums, self.squares = self.sums + apart.sum(0), self.squares + (apart**2).sum(0)
        self.least = np.minimum(self.least, np.where(known, values, np.inf).min(0, initial=np.inf))
        self.most = np.maximum(self.most, np.where(known, values, -np.inf).max(0, initial=-np.inf))
        self.whole &= (~known | (np.mod(np.nan_to_num(values), 1) == 0)).all(0)

    def form(self, columns: tuple[str, ...], music: Music | None, name: str) -> SeriesForm:
        """What was found of all; a column of which nothing is known is refused, one that never changes has deviation
        1."""
        empty = np.flatnonzero(self.count == 0)
        if len(empty):
            raise UserError(f"{name}: column {columns[empty[0]]} has no number; leave it out, or mend it")
        mean = self.sums / self.count
        variance = np.maximum(self.squares / self.count - mean**2, 0.0)
        deviation = np.sqrt(variance)
        deviation[deviation <= 1e-9 * np.maximum(np.abs(self.begun), 1e-30)] = 1.0
        figures: dict[str, Any] = {
            "means": mean + self.begun,
            "deviations": deviation,
            "least": self.least,
            "most": self.most,
            "whole": self.whole,
            "unknown": 1 - self.count / max(self.all, 1),
        }
        told: dict[str, Any] = {key: tuple(each.tolist()) for key, each in figures.items()}
        return SeriesForm(columns, music=music, **told)
