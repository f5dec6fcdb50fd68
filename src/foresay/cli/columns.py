"""The texts of a column, for commands that read tables: CSV, TSV and JSON lines, from files or a pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from foresay.cli.using import placed_lines
from foresay.data.pair_files import place_of, table_rows
from foresay.data.source import Reading, Source, format_of
from foresay.errors import UserError

FORMATS = ("csv", "tsv", "jsonl")


def column_texts(files: Sequence[str], column: str, form: str | None = None) -> Iterator[tuple[str, str]]:
    """The texts of a column, named or numbered from 1, with where each stands; `form` says what a pipe holds."""
    if form is not None and form not in FORMATS:
        raise UserError(f"--format {form}; allowed: {', '.join(FORMATS)}")
    for name in files:
        kind = form or ("" if name == "-" else format_of(Path(name)))
        if kind not in FORMATS:
            remedy = "say what the pipe holds: --format jsonl" if name == "-" else "leave it out, or give --format"
            raise UserError(f"--column {column}, but {name} is no table by its name (.csv, .tsv, .jsonl); {remedy}")
        if name != "-" and not Path(name).is_file():
            raise UserError(f"{name} is no file; give a table, or - for a pipe")
        for place, text in _objects(name, column) if kind == "jsonl" else _rows(name, column, kind):
            if not text.strip():
                raise UserError(f"{place} has an empty text; mend or delete it")
            yield place, text


def _objects(name: str, column: str) -> Iterator[tuple[str, str]]:
    """Line by line, so that a pipe is answered as it comes; blank lines are passed over."""
    for place, line in placed_lines([name]):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{place} is no JSON ({error}); mend or delete it") from None
        if not isinstance(found, dict) or not isinstance(found.get(column), str):
            raise UserError(f'{place} has no text {column!r}; allowed: {{"{column}": "..."}}')
        yield str(place), found[column]


def _rows(name: str, column: str, kind: str) -> Iterator[tuple[str, str]]:
    read = Reading(format="csv" if kind == "csv" else "tsv")
    if name == "-":
        source = Source("standard input", content=sys.stdin.buffer.read(), read=read)
    else:
        source = Source(name, Path(name), read=read)
    wanted, place = int(column) if column.isdecimal() else column, None
    for line, row in table_rows(source):
        if place is None:
            place = place_of(source, row, wanted)
            if isinstance(wanted, str):  # the names of the columns
                continue
        yield f"{source.name} line {line}", row[place]
