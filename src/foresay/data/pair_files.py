"""Pairs of texts, one by one: from two files line by line, a table with two columns, talk in one, or made in memory.

    a.en + a.de                 line n of one belongs to line n of the other
    pairs.tsv .csv .jsonl       two columns: those named, else `source` and `target`, else the first and the second of a
                                table without a header
    play.txt                    speeches or lines that answer each other: dialogue.py

Files may be packed. TSV has no quotes. Every pair comes with the number of its line; one that is missing a side is a
mistake, for what follows it would be paired wrongly.
"""

from __future__ import annotations

import codecs
import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from foresay.data.compressed import Damaged, NotText
from foresay.data.decoding import marked
from foresay.data.dialogue import Talk, answered
from foresay.data.records import fields, no_json, no_table, whole_lines
from foresay.data.source import Source
from foresay.errors import UserError

Pair = tuple[int, str, str]  # line, source, target
Columns = Sequence[str | int] | None
NAMES = ("source", "target")
_TWO = "name two, the source's and the target's"
_REMEDY = "every line needs both: mend or delete it"


@dataclass(frozen=True)
class PairText:
    """Pairs that can be gone through any number of times."""

    name: str
    files: tuple[Source, ...] = ()  # one, with two columns, or two
    made: Sequence[tuple[str, str]] | None = None
    columns: Columns = None
    reverse: bool = False
    talk: Talk | None = None  # what one file holds, where that is no table

    def __iter__(self) -> Iterator[Pair]:
        for line, one, other in self._read():
            for text, side in zip((one, other), self.sides, strict=True):
                if not text or text.isspace():
                    raise UserError(f"{self.name}: line {line} has an empty {side}; {_REMEDY}")
            yield (line, other, one) if self.reverse else (line, one, other)

    @property
    def sides(self) -> tuple[str, str]:
        """What the first and the second of a row are called in a message."""
        return ("target (data.reverse=true)", "source (data.reverse=true)") if self.reverse else NAMES

    def has_lines(self) -> bool:
        """Whether a file has a line that is not blank."""
        return any(line.strip() for source in self.files for line in text_lines(source))

    def _read(self) -> Iterator[Pair]:
        if self.made is not None:
            yield from ((line, one, other) for line, (one, other) in enumerate(self.made, 1))
        elif len(self.files) == 2:
            yield from _aligned(*self.files, self.sides)
        elif self.talk is not None:
            yield from answered(text_lines(self.files[0]), self.talk, self.name)
        else:
            yield from _table(self.files[0], self.columns)


def _aligned(one: Source, other: Source, sides: tuple[str, str]) -> Iterator[Pair]:
    both = zip_longest(text_lines(one), text_lines(other))
    for line, (left, right) in enumerate(both, 1):
        if left is None or right is None:
            ended, goes_on, side = (one, other, sides[0]) if left is None else (other, one, sides[1])
            total = line + sum(1 for _ in both)
            raise UserError(
                f"{ended.name} has {line - 1} lines and {goes_on.name} has {total}: line {line} has no {side}; "
                "give files of equal length, where line n of one belongs to line n of the other"
            )
        yield line, left, right


def text_lines(source: Source) -> Iterator[str]:
    """The lines of a file as text, without what ends them."""
    line = 0
    try:
        with source.open() as stream:
            for block in whole_lines(stream):
                for text in _decoded(block if line else block.removeprefix(codecs.BOM_UTF8)):
                    yield text
                    line += 1
    except UnicodeDecodeError as error:
        byte, encoding = error.object[error.start], (None if line else marked(error.object)) or "latin-1"
        raise UserError(
            f"{source.name}: line {line + 1} is not UTF-8: byte 0x{byte:02X}; say its encoding: --encoding {encoding}"
        ) from None
    except (NotText, Damaged) as error:
        raise UserError(f"{source.name} {error}") from None
    except OSError as error:
        raise UserError(f"{source.name} cannot be read: {error.strerror or error}; check the file") from None


def _decoded(block: bytes) -> Iterable[str]:
    """The lines of a block; where one is no UTF-8, those before it come first, as they may be wrong themselves."""
    block = block.removesuffix(b"\n")
    try:
        lines = block.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return (line.decode("utf-8").removesuffix("\r") for line in block.split(b"\n"))
    return [line.removesuffix("\r") for line in lines] if b"\r" in block else lines


def _table(source: Source, columns: Columns) -> Iterator[Pair]:
    if source.read.format == "jsonl":
        yield from _objects(source, columns)
        return
    places = None
    for line, row in table_rows(source):
        if places is None:
            places, header = _places(source, row, columns)
            if header:
                continue
        yield line, row[places[0]], row[places[1]]


def table_rows(source: Source) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV or TSV file, all of one width, each with the line it begins on; blank lines are passed over."""
    csv.field_size_limit(2**27)
    comma = source.read.format == "csv"
    style: dict[str, Any] = {"strict": True} if comma else {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
    rows = csv.reader((line + "\n" for line in text_lines(_as_text(source))), **style)
    begins, width = 1, 0
    try:
        for row in rows:
            line, begins = begins, rows.line_num + 1
            if not row:
                continue
            width = width or len(row)
            if len(row) != width:
                raise UserError(f"{source.name}: line {line} has {fields(len(row))}, the first has {width}; mend it")
            yield line, row
    except csv.Error as error:
        raise UserError(f"{source.name}: line {begins} {no_table(error, comma)}") from None


def _places(source: Source, first: list[str], columns: Columns) -> tuple[tuple[int, int], bool]:
    """Which fields are meant, by the first row, and whether that is a header."""
    if columns is None and all(name in first for name in NAMES):
        columns = NAMES
    if columns is None and len(first) != 2:
        raise UserError(
            f"{source.name} has {len(first)} columns and none called source and target; name two: "
            "data.columns=[english, german], or by number: data.columns=[1, 2]"
        )
    one, other = (place_of(source, first, column) for column in columns or (1, 2))
    if one == other:
        raise UserError(f"{source.name}: data.columns={list(columns or ())} are one column; {_TWO}")
    return (one, other), any(isinstance(column, str) for column in columns or ())


def place_of(source: Source, first: list[str], column: str | int) -> int:
    """Where a column named, or numbered from 1, stands in a row."""
    if isinstance(column, int) and 1 <= column <= len(first):
        return column - 1
    if column not in first:
        allowed = f"1 to {len(first)}" if isinstance(column, int) else ", ".join(first)
        raise UserError(f"{source.name} has no column {column!r}; allowed: {allowed}")
    if first.count(str(column)) > 1:
        places = " and ".join(str(place) for place, name in enumerate(first, 1) if name == column)
        raise UserError(f"{source.name}: line 1 has {column!r} in columns {places}; give each a name of its own")
    return first.index(str(column))


def _objects(source: Source, columns: Columns) -> Iterator[Pair]:
    names = list(map(str, columns or NAMES))
    for line, found in json_lines(source):
        sides = [found.get(name) if isinstance(found, dict) else None for name in names]
        if not all(isinstance(side, str) for side in sides):
            raise UserError(
                f"{source.name}: line {line} has no texts {' and '.join(names)}; allowed: "
                f'{{"{names[0]}": "...", "{names[1]}": "..."}}, or name two others: data.columns=[one, other]'
            )
        yield line, str(sides[0]), str(sides[1])


def json_lines(source: Source) -> Iterator[tuple[int, Any]]:
    """What stands on each line of a file of JSON lines, with its number; blank lines are passed over."""
    for line, text in enumerate(text_lines(_as_text(source)), 1):
        if not text or text.isspace():
            continue
        try:
            yield line, json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{source.name}: line {line} {no_json(error)}") from None


def _as_text(source: Source) -> Source:
    """The same file, read as plain lines."""
    from dataclasses import replace

    return replace(source, read=replace(source.read, format="text"))
