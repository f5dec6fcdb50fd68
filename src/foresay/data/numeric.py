"""Whether a file holds series of numbers, told by its first lines: a table of numbers, lists of them, or an array.

A table's first column may be dates, and cells may be empty. Arrays and lists of whole numbers may as well be symbols:
they are series where data.kind=series says so. `columns_of_numbers` are those of a table that a series would have.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from pathlib import Path
from typing import Any, cast

import numpy as np

from foresay.data.compressed import Damaged, packing, unpacked
from foresay.data.series_files import LOOK, ending_of, mark_of, number_in, why_left_out

HEAD = 65_536  # bytes that are looked at
LEAST = 8  # lines of a table
DATE = re.compile(r"\d[\d\s:/.,+TZWQ-]*|[A-Z][a-z]{2,8}[ .-]+\d{2,4}")


def holds_series(path: Path) -> bool:
    """Whether the beginning of a file is that of series of numbers; what cannot be read is told by who reads it."""
    ending = ending_of(path)
    if ending == ".npy":
        return _real_array(path)
    if ending not in (".csv", ".tsv", ".jsonl"):
        return False
    lines = _first_lines(path)
    return _list_of_numbers(lines) if ending == ".jsonl" else _table_of_numbers(lines)


def _first_lines(path: Path) -> list[str]:
    """Whole lines; of a file that cannot be read there are none."""
    try:
        with path.open("rb") as raw:
            head = cast(Any, unpacked(raw, packing(path))).read(HEAD)
    except (OSError, Damaged):
        return []
    lines = head.decode("utf-8-sig", "replace").splitlines()
    return lines[:-1] if len(head) >= HEAD else lines


def columns_of_numbers(path: Path) -> dict[str, bool]:
    """Of each column of a table whether it is one of numbers, by its first lines; of what is no table nothing."""
    lines = _first_lines(path) if ending_of(path) in (".csv", ".tsv") else []
    if not lines:
        return {}
    mark = mark_of(lines[0])
    try:
        first, *below = [row for row in csv.reader(io.StringIO("\n".join(lines[: LOOK + 1])), delimiter=mark) if row]
    except (csv.Error, ValueError):
        return {}
    columns = ([row[at] for row in below if at < len(row)] for at in range(len(first)))
    whys = [why_left_out(at, cells, mark, alone=len(first) == 1) for at, cells in enumerate(columns)]
    return {name.strip(): why is None for name, why in zip(first, whys, strict=True)}


def _real_array(path: Path) -> bool:
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except (ValueError, OSError, EOFError):
        return False
    return array.dtype.kind == "f" and 1 <= array.ndim <= 3


def _list_of_numbers(lines: list[str]) -> bool:
    try:
        found = json.loads(next(filter(None, lines), ""))
    except (ValueError, RecursionError):
        return False
    first = found[0] if isinstance(found, list) and found and isinstance(found[0], list) else found
    return isinstance(first, list) and bool(first) and any(isinstance(one, float) for one in first)


def _table_of_numbers(lines: list[str]) -> bool:
    """Whether every cell below a line of names is a number or not known, but for a first column of dates."""
    if len(lines) < LEAST:
        return False
    mark = mark_of(lines[0])
    try:
        rows = [row for row in csv.reader(io.StringIO("\n".join(lines)), delimiter=mark) if row]
    except csv.Error:
        return False
    below, wide = rows[1:], len(rows[0])
    if not below or any(len(row) != wide for row in below):
        return False
    columns = [[number_in(row[at], mark) for row in below] for at in range(wide)]
    numeric = [None not in column and not all(map(math.isnan, cast(Any, column))) for column in columns]
    dates = wide > 1 and all(DATE.fullmatch(row[0].strip()) for row in below)
    return (numeric[0] or dates) and all(numeric[1:]) and any(numeric)
