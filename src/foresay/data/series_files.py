"""Series of numbers, one by one, from files; every one (T, D) of float32, NaN where a number is not known.

    x.csv  x.tsv     a column a dimension, a line a step; with `by` a column that says which series a line is of
    x.npy            (T,), (T, D) or (N, T, D)
    x.jsonl  x.json  a series a line, or a list of them: [1.5, 2.0] or [[1.5, 0.2], [2.0, 0.3]]
    a folder         of such files

Tables, packed or not, are divided by commas, semicolons (then 1,5 is one and a half) or tabs, as their first line is. A
first line with anything but numbers names the columns. Empty cells, `nan`, `na`, `n/a`, `null` and `none` are not
known. Where `columns` names none, a column is left out whose known cells in the first lines are mostly no numbers, and
a first one that counts the lines, as years do; a cell of any other column that is no number is a mistake.

Numbers are kept as float32, which has 24 bits. That loses what a column is about where rounding moves a number by more
than a hundredth of the way from the column's least to its greatest.
"""

from __future__ import annotations

import csv
import io
import json
import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np

from foresay.data.compressed import PACKED_NAMES, Damaged, packing, unpacked
from foresay.errors import UserError, nearest, reason

TABLES, ARRAYS, LISTS = (".csv", ".tsv", ".txt", ".dat"), (".npy",), (".jsonl", ".json")
ENDINGS = (*TABLES[:2], *ARRAYS, *LISTS)  # those of a folder's files that are read
ALLOWED = "a table (.csv, .tsv), an array (.npy), lists (.jsonl, .json), or a folder of them"
LOOK = 100  # lines by which a column is one of numbers
LOST = 0.01  # of a column's range, by which float32 may move a number
UNKNOWN = {"", "nan", "na", "n/a", "null", "none"}
Named = tuple[str, np.ndarray, int]  # where it is from, its values, and how many steps are there for context alone
Made = Sequence[tuple[np.ndarray, int]]


class Ranges:
    """The least and the greatest number of each column (D,), and how far float32 moves one of them at most."""

    def __init__(self, width: int):
        self.least, self.most, self.moved = np.full(width, np.inf), np.full(width, -np.inf), np.zeros(width)

    def add(self, values: np.ndarray, kept: np.ndarray) -> None:
        """Values (T, D) as they are given, and as float32."""
        known = ~np.isnan(values)
        self.least = np.minimum(self.least, np.where(known, values, np.inf).min(0, initial=np.inf))
        self.most = np.maximum(self.most, np.where(known, values, -np.inf).max(0, initial=-np.inf))
        moved = np.abs(np.where(known, values, 0) - np.where(known, kept.astype(np.float64), 0))
        self.moved = np.maximum(self.moved, moved.max(0, initial=0))

    def lost(self) -> list[int]:
        """The columns that float32 does not hold; of one that never changes nothing is lost."""
        apart = np.where(self.most > self.least, self.most - self.least, np.inf)
        return np.flatnonzero(self.moved > LOST * apart).tolist()


@dataclass
class SeriesText:
    """Series that can be gone through any number of times: those of a file or a folder, or made in memory."""

    name: str
    path: Path | None = None
    made: Made | None = None
    wanted: list[str | int] | None = None  # columns
    by: str | None = None
    columns: tuple[str, ...] = ()  # their names, once gone through
    left_out: dict[str, str] = field(default_factory=dict[str, str])  # columns that are not read, and why
    notes: tuple[str, ...] = ()  # what else is to be told of what was read
    ranges: Ranges | None = None  # of the columns, once gone through

    def __iter__(self) -> Iterator[Named]:
        self.ranges = None
        for where, values, begin in self._read():
            if not len(values):
                raise UserError(f"{where} has no steps; leave it out, or give some")
            yield where, values, begin

    def _read(self) -> Iterator[Named]:
        if self.made is not None:
            for number, (values, begin) in enumerate(self.made, 1):
                yield *self._alike(f"{self.name} number {number}", values, None)[:2], begin
            return
        assert self.path is not None
        files = files_of(self.path) if self.path.is_dir() else [self.path]
        for path in files:
            try:
                yield from self._of_file(path)
            except (OSError, Damaged) as error:
                raise UserError(f"{path} cannot be read ({reason(error)}); mend it, or get it again") from None

    def _of_file(self, path: Path) -> Iterator[Named]:
        ending = ending_of(path)
        if ending in ARRAYS:
            yield from (self._alike(where, values, None) for where, values in _of_array(path))
        elif ending in LISTS:
            yield from (self._alike(where, values, None) for where, values in _of_lists(path, ending == ".jsonl"))
        else:
            yield from self._of_table(path)

    def _alike(self, where: str, values: np.ndarray, names: tuple[str, ...] | None) -> Named:
        """A series (T, D) of finite numbers, or NaN; all have the columns of the first."""
        values = values[:, None] if values.ndim == 1 else values
        names = names or self.columns or self._named(values.shape[1])
        self.columns = self.columns or names
        if values.shape[1] != len(self.columns) or names != self.columns:
            found = f"{values.shape[1]} columns" if names is self.columns else ", ".join(names)
            raise UserError(f"{where} has {found}, others have {', '.join(self.columns[:8])}; make them alike")
        with np.errstate(over="ignore"):
            kept = np.ascontiguousarray(values, dtype=np.float32)
        if np.isinf(kept).any():
            step = int(np.isinf(kept).any(1).argmax())
            raise UserError(f"{where}: step {step + 1} is infinite, or too large for float32; mend it, or leave it out")
        self.ranges = self.ranges or Ranges(kept.shape[1])
        self.ranges.add(values, kept)
        return where, kept, 0

    def check_held(self) -> None:
        """Refuses columns, once gone through, whose variation float32 rounds away."""
        ranges = self.ranges
        if ranges is None or not (lost := ranges.lost()):
            return
        least, apart, moved = (
            float(each[lost[0]]) for each in (ranges.least, ranges.most - ranges.least, ranges.moved)
        )
        raise UserError(
            f"{self.name}: column {self.columns[lost[0]]} has numbers from {least:.10g} on that are {apart:.3g} apart "
            f"at most, and float32, as which they are kept, moves some by {moved:.2g}; subtract {least:.10g} from all"
        )

    def _named(self, width: int) -> tuple[str, ...]:
        """The names of columns that have none: those that are wanted where there are as many, else their numbers."""
        wanted = self.wanted or []
        if len(wanted) == width and all(isinstance(one, str) for one in wanted):
            return tuple(map(str, wanted))
        return tuple(map(str, range(1, width + 1)))

    def _of_table(self, path: Path) -> Iterator[Named]:
        with path.open("rb") as raw:
            stream = cast("io.RawIOBase", unpacked(raw, packing(path)))
            text = io.TextIOWrapper(io.BufferedReader(_Raw(stream)), "utf-8-sig", newline="")
            try:
                yield from self._of_rows(path, text)
            except UnicodeDecodeError as error:
                raise UserError(f"{path} is not UTF-8: byte 0x{error.object[error.start]:02X}; save it so") from None
            except csv.Error as error:
                raise UserError(f"{path} is no table ({error}); mend it") from None

    def _of_rows(self, path: Path, text: io.TextIOWrapper) -> Iterator[Named]:
        first = text.readline()
        mark = mark_of(first)
        rows = csv.reader(chain([first], text), delimiter=mark)
        begun = [(rows.line_num, row) for row in islice((row for row in rows if row), LOOK)]
        if not begun:
            raise UserError(f"{path} is empty; give a table of numbers")
        header = any(number_in(cell, mark) is None for cell in begun[0][1])
        names = [name.strip() for name in begun[0][1]] if header else [str(n + 1) for n in range(len(begun[0][1]))]
        places = self._places(path, names, [row for _, row in begun[header:]], mark)
        key = None if self.by is None else _place(path, self.by, names)
        lines = chain(begun[header:], ((rows.line_num, row) for row in rows if row))
        series: dict[str, array[float]] = {}
        for line, row in lines:
            if len(row) != len(names):
                raise UserError(f"{path}: line {line} has {len(row)} cells, the first line {len(names)}; mend it")
            own = series.setdefault("" if key is None else row[key].strip(), array("d"))
            own.extend([_cell(path, line, names[at], row[at], mark) for at in places])
        shown = tuple(names[at] for at in places)
        if not series:
            raise UserError(f"{path} has a line of names and no numbers; give a table of numbers")
        for name, values in series.items():
            found = np.frombuffer(values, np.float64).reshape(-1, len(places))
            yield self._alike(f"{path}: {self.by} {name}" if name else str(path), found, shown)

    def _places(self, path: Path, names: list[str], rows: list[list[str]], mark: str) -> list[int]:
        """Which columns are read: those that are named, or all that are of numbers by the first lines."""
        if self.wanted is not None:
            return [_place(path, one, names) for one in self.wanted]
        found = []
        for at, name in enumerate(names):
            if name == self.by:
                continue
            why = why_left_out(at, [row[at] for row in rows if at < len(row)], mark, alone=len(names) == 1)
            if why is None:
                found.append(at)
            else:
                self.left_out[name] = why
        if not found:
            raise UserError(f"{path} has no column of numbers among {', '.join(names[:8])}; name one: data.columns")
        return found


class _Raw(io.RawIOBase):
    """What only reads pieces, as a file of Python's."""

    def __init__(self, stream: Any):
        self.stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self.stream.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)


def ending_of(path: Path) -> str:
    """`.csv` of x.csv and of x.csv.gz."""
    name = path.name.lower()
    packed = next((one for one in PACKED_NAMES if name.endswith(one)), "")
    return Path(name.removesuffix(packed)).suffix


def files_of(folder: Path) -> list[Path]:
    """The files of a folder that hold series, by name."""
    inside = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith(".")]
    found = [path for path in inside if ending_of(path) in ENDINGS]
    if not found:
        raise UserError(f"{folder} holds no series; allowed: {ALLOWED}")
    return found


def mark_of(line: str) -> str:
    """What divides the cells of a table, by its first line."""
    return "\t" if "\t" in line else ";" if line.count(";") > line.count(",") else ","


def number_in(cell: str, mark: str) -> float | None:
    """A cell as a number, NaN where it is not known; None where it is something else."""
    cell = cell.strip()
    if cell.lower() in UNKNOWN:
        return math.nan
    try:
        return float(cell.replace(",", ".") if mark == ";" else cell)
    except ValueError:
        return None


def why_left_out(at: int, cells: Sequence[str], mark: str, *, alone: bool = False) -> str | None:
    """Why the column at a place is not read, by its cells in the first lines; None where it is one of numbers."""
    numbers = [number_in(cell, mark) for cell in cells]
    known = [number for number in numbers if number is None or not math.isnan(number)]
    if not known or 2 * known.count(None) > len(known):
        return "some numbers among what is none" if known.count(None) < len(known) else "no number"
    if at == 0 and not alone and None not in numbers and _counts(cast(Any, numbers)):
        return "it counts the lines"
    return None


def _counts(numbers: list[float]) -> bool:
    """Whether they go up by the same at each line, as years do."""
    apart = {round(after - before, 9) for before, after in pairwise(numbers)}
    return len(numbers) > 2 and len(apart) == 1 and apart.pop() > 0


def _cell(path: Path, line: int, name: str, cell: str, mark: str) -> float:
    found = number_in(cell, mark)
    if found is None:
        raise UserError(
            f"{path}: line {line}: column {name} holds {cell[:30]!r}; allowed: a number, or nothing where it is not "
            "known: mend it, or name the columns to read with data.columns"
        )
    return found


def _place(path: Path, wanted: str | int, names: list[str]) -> int:
    """The place of a column by its name, or by its number from 1."""
    if isinstance(wanted, int):
        if not 1 <= wanted <= len(names):
            raise UserError(f"{path} has no column {wanted}; allowed: 1 to {len(names)}")
        return wanted - 1
    if wanted not in names:
        raise UserError(f"{path} has no column {wanted!r}; allowed: {', '.join(names[:20])}{nearest(wanted, names)}")
    return names.index(wanted)


def _of_array(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except (ValueError, OSError, EOFError) as error:
        raise UserError(f"{path} is no array that can be read ({error}); write it with numpy.save") from None
    if array.dtype.kind not in "fiub" or not 1 <= array.ndim <= 3:
        raise UserError(f"{path} holds {array.dtype} {array.shape}; allowed: numbers (T,), (T, D) or (N, T, D)")
    for number, values in enumerate(array if array.ndim == 3 else [array], 1):
        yield f"{path} number {number}" if array.ndim == 3 else str(path), np.asarray(values)


def _of_lists(path: Path, by_line: bool) -> Iterator[tuple[str, np.ndarray]]:
    with path.open("rb") as raw:
        content = cast("io.RawIOBase", unpacked(raw, packing(path)))
        if by_line:
            lines = io.TextIOWrapper(io.BufferedReader(_Raw(content)), "utf-8")
            for number, line in enumerate(lines, 1):
                if not line.isspace():
                    yield (
                        f"{path} line {number}",
                        _values(_json(path, line, f"line {number} "), f"{path} line {number}"),
                    )
            return
        found = _json(path, io.BufferedReader(_Raw(content)).read().decode("utf-8", "replace"), "")
    deep = _depth(found)
    if deep not in (1, 2, 3):
        raise UserError(f"{path} holds no lists of numbers; allowed: [1.5, ...], [[1.5, 0.2], ...], or a list of such")
    for number, one in enumerate(found if deep == 3 else [found], 1):
        where = f"{path} number {number}" if deep == 3 else str(path)
        yield where, _values(one, where)


def _depth(found: Any) -> int:
    return 1 + _depth(found[0]) if isinstance(found, list) and found else int(isinstance(found, list))


def _json(path: Path, text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} {where}is no JSON ({error}); mend it") from None


def _values(found: Any, where: str) -> np.ndarray:
    """Lists as (T,) or (T, D); null is not known."""
    try:
        values = np.array(found, dtype=np.float64)
    except (ValueError, TypeError):
        values = np.zeros(())
    if values.ndim not in (1, 2):
        raise UserError(f"{where} is no list of numbers, or of lists of as many each; mend it")
    return values
