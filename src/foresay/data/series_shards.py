"""Shards of series: their numbers on disk, memory-mapped, read in any order.

series.json       what they are like (series_form.py), beside the parts
train/values.bin  float32, (N, D): the steps of all series, one after the other; NaN is not known
train/ends.bin    int64: where each series ends
train/begins.bin  int64: how many steps of each are there for context alone
train/names.json  where each is from
train/meta.json   counts: `tokens` are the steps that are predicted, `characters` their known numbers
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Self

import numpy as np

from foresay.data.series_form import SeriesForm
from foresay.data.shards import Meta
from foresay.errors import UserError

VALUES = "values.bin"


class SeriesShards:
    """The series of one part: `len` is how many steps are predicted."""

    def __init__(self, folder: Path):
        self.folder = Path(folder)
        self.form = SeriesForm.read(folder.parent)
        try:
            self.meta = Meta(**json.loads((folder / "meta.json").read_text("utf-8")))
            self.ends, self.begins = (np.fromfile(folder / name, "<i8") for name in ("ends.bin", "begins.bin"))
            self.names: list[str] = json.loads((folder / "names.json").read_text("utf-8"))
            steps = int(self.ends[-1]) if len(self.ends) else 0
            self.values = np.memmap(folder / VALUES, "<f4", "r", shape=(steps, self.form.width)).view(np.ndarray)
            whole = len(self.ends) == len(self.begins) == len(self.names) == self.meta.documents
            whole = whole and (folder / VALUES).stat().st_size == 4 * self.values.size
        except (OSError, ValueError, TypeError):
            whole = False
        if not whole:
            raise UserError(f"{folder} is damaged; delete {folder.parent} and prepare again")
        self.vocabulary, self.documents = self.meta.vocabulary, self.meta.documents

    def __len__(self) -> int:
        return self.meta.tokens

    def lengths(self) -> np.ndarray:
        """The steps of each series."""
        return np.diff(self.ends, prepend=0)

    def first(self, number: int) -> int:
        """The place of a series' first step among all."""
        return int(self.ends[number - 1]) if number else 0

    def series(self, number: int) -> np.ndarray:
        """A whole series, (T, D)."""
        return self.values[self.first(number) : self.ends[number]]

    def window(self, number: int, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """The steps begin..end of a series as what is read, each the step before, and as targets: two (end - begin, D).

        Before the first step stands one of which nothing is known; targets that are there for context are not known.
        """
        first = self.first(number)
        targets = self.values[first + begin : first + end].copy()
        before = self.values[first + max(begin - 1, 0) : first + end - 1]
        if begin == 0:
            before = np.concatenate([np.full((1, self.form.width), np.nan, np.float32), before])
        targets[: max(int(self.begins[number]) - begin, 0)] = np.nan
        return before, targets


class SeriesWriter:
    """Writes the series of one part into a folder; a context manager."""

    def __init__(self, folder: Path, vocabulary: int):
        self.folder, self.meta = folder, Meta(vocabulary=vocabulary, dtype="uint16")
        folder.mkdir(parents=True, exist_ok=True)
        self.file = (folder / VALUES).open("wb")
        self.ends: list[int] = []
        self.begins: list[int] = []
        self.names: list[str] = []

    def add(self, name: str, values: np.ndarray, begin: int) -> None:
        self.file.write(values.astype("<f4").tobytes())
        self.ends.append((self.ends[-1] if self.ends else 0) + len(values))
        self.begins.append(begin)
        self.names.append(name)
        known = ~np.isnan(values[begin:])
        self.meta.tokens += int(known.any(1).sum())
        self.meta.characters += int(known.sum())
        self.meta.documents += 1

    def finish(self) -> int:
        """Puts everything on the disk; how many steps are predicted."""
        self.file.flush()
        self.meta.bytes = 4 * self.meta.characters
        for name, numbers in (("ends.bin", self.ends), ("begins.bin", self.begins)):
            np.array(numbers, "<i8").tofile(self.folder / name)
        (self.folder / "names.json").write_text(json.dumps(self.names, ensure_ascii=False) + "\n", "utf-8")
        (self.folder / "meta.json").write_text(json.dumps(asdict(self.meta), indent=2) + "\n", "utf-8")
        return self.meta.tokens

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.file.close()
