"""The texts of a column, or of two that are joined, for commands that read tables: CSV, TSV and JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from foresay.cli.lines import Pipe, placed_lines
from foresay.data.advice import as_options
from foresay.data.pair_files import place_of, table_rows
from foresay.data.records import ZERO, no_json
from foresay.data.source import Reading, Source, format_of
from foresay.errors import UserError

FORMATS = ("csv", "tsv", "jsonl")


def column_texts(
    files: Sequence[str],
    columns: Sequence[str],
    form: str | None = None,
    between: str = "",
    pipe: Pipe | None = None,
    encoding: str = "utf-8",
) -> Iterator[tuple[str, str]]:
    """The texts of columns, named or numbered from 1, with where each stands; `form` says what a pipe holds.

    Those of several columns become one, with `between` between them, which none may hold; where one is empty, so is
    the whole.
    """
    if form is not None and form not in FORMATS:
        raise UserError(f"--format {form}; allowed: {', '.join(FORMATS)}")
    for name in files:
        kind = form or ("" if name == "-" else format_of(Path(name)))
        if kind not in FORMATS:
            remedy = "say what the pipe holds: --format jsonl" if name == "-" else "leave it out, or give --format"
            raise UserError(f"--column {columns[0]}, but {name} is no table by its name (.csv, .tsv, .jsonl); {remedy}")
        if name != "-" and not Path(name).is_file():
            raise UserError(f"{name} is no file; give a table, or - for a pipe")
        found = _objects(name, columns, pipe, encoding) if kind == "jsonl" else _rows(name, columns, kind, encoding)
        try:
            for place, texts in found:
                if any("\0" in text for text in texts):
                    raise UserError(f"{place} {ZERO}")
                if between and any(between in text for text in texts):
                    raise UserError(f"{place} has a text with {between!r}, which stands between two; take it out")
                yield place, f" {between} ".join(texts) if all(map(str.strip, texts)) else ""
        except UserError as error:
            raise UserError(as_options(str(error))) from None


def _objects(name: str, columns: Sequence[str], pipe: Pipe | None, encoding: str) -> Iterator[tuple[str, list[str]]]:
    """Line by line, so that a pipe is answered as it comes; blank lines are passed over, null is an empty text."""
    for place, line in placed_lines([name], pipe, encoding):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{place} {no_json(error)}") from None
        for column in columns:
            if not isinstance(found, dict) or not isinstance(found.get(column, 0), str | None):
                raise UserError(f'{place} has no text {column!r}; allowed: {{"{column}": "..."}}')
        yield str(place), [found[column] or "" for column in columns]


def _rows(name: str, columns: Sequence[str], kind: str, encoding: str) -> Iterator[tuple[str, list[str]]]:
    read = Reading(format="csv" if kind == "csv" else "tsv", encoding=encoding)
    if name == "-":
        source = Source("standard input", content=sys.stdin.buffer.read(), read=read)
    else:
        source = Source(name, Path(name), read=read)
    wanted, places = [int(column) if column.isdecimal() else column for column in columns], None
    for line, row in table_rows(source):
        if places is None:
            places = [place_of(source, row, column) for column in wanted]
            if any(isinstance(column, str) for column in wanted):  # the names of the columns
                continue
        yield f"{source.name} line {line}", [row[place] for place in places]
