"""Texts with their labels, one by one, from a table (CSV, TSV, JSON lines), or made in memory.

    text,label                        a header that has `label`; the text is `text`, or the only other column
    "good, all in all",positive
    {"text": "...", "label": "sport"}
    {"text": "...", "label": ["sport", "money"]}      with `several`; in a table: sport|money
    {"sentence1": "...", "sentence2": "...", "gold_label": "neutral"}

Other columns are named, or numbered from 1 in a table without a header. Of three the first two are texts, which become
one: sentence1 ||| sentence2. Rows with a label of `without` are left out. Files may be packed. Every text comes with
the number of the line it begins on; one that is empty or has no label is a mistake.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from foresay.data.pair_files import json_lines, place_of, table_rows
from foresay.data.records import ZERO
from foresay.data.source import Source
from foresay.errors import UserError

Labelled = tuple[int, str, tuple[str, ...]]  # line, text, labels
TEXT, LABEL = "text", "label"
_CONTROL = re.compile("[\\x00-\\x1f\\x7f\\x85\\u2028\\u2029]")  # what breaks a table of labels


@dataclass(frozen=True)
class LabelText:
    """Texts with labels that can be gone through any number of times."""

    name: str
    file: Source | None = None
    made: Sequence[tuple[str, ...]] | None = None
    columns: Sequence[str | int] | None = None  # the text's, or those of two, and the label's
    several: bool = False
    separator: str = "|"
    between: str = "|||"  # two texts
    without: Sequence[str] = ()  # labels
    trained: bool = False  # read for a run, as its own table was

    def __iter__(self) -> Iterator[Labelled]:
        for line, texts, given in self._read():
            if self.without and not isinstance(given, list) and str(given).strip() in self.without:
                continue
            for text in texts:
                if not text or text.isspace():
                    raise UserError(f"{self.name}: line {line} has an empty text; mend or delete it")
                if "\0" in text:
                    raise UserError(f"{self.name}: line {line} {ZERO}")
                if len(texts) > 1 and self.between in text:
                    raise UserError(
                        f"{self.name}: line {line} has a text with {self.between!r}, which stands between two; set "
                        "data.between to what no text has"
                    )
            yield line, f" {self.between} ".join(texts), self._labels(line, given)

    def _read(self) -> Iterator[tuple[int, tuple[str, ...], Any]]:
        if self.made is not None:
            yield from ((line, row[:-1], row[-1]) for line, row in enumerate(self.made, 1))
            return
        assert self.file is not None
        yield from self._objects(self.file) if self.file.read.format == "jsonl" else self._rows(self.file)

    def _rows(self, file: Source) -> Iterator[tuple[int, tuple[str, ...], str]]:
        places = None
        for line, row in table_rows(file):
            if places is None:
                _check_divided(file, row)
                places, header = self._places(file, row)
                if header:
                    continue
            yield line, tuple(row[place] for place in places[:-1]), row[places[-1]]

    def _places(self, file: Source, first: list[str]) -> tuple[list[int], bool]:
        """Which fields are meant, by the first row, and whether that is a header."""
        columns = self.columns
        if columns is None:
            others = [name for name in first if name != LABEL]
            if LABEL not in first or (TEXT not in first and len(others) != 1):
                if self.trained:
                    raise UserError(self._other_columns(f"{file.name}: line 1", first))
                raise UserError(
                    f"{file.name}: line 1 names no columns text and label, but {', '.join(map(repr, first[:6]))}; name "
                    "two: data.columns=[review, stars], or in a table without a header: data.columns=[1, 2]"
                )
            columns = (TEXT if TEXT in first else others[0], LABEL)
        if self.trained and any(isinstance(column, str) and column not in first for column in columns):
            raise UserError(self._other_columns(f"{file.name}: line 1", first))
        places = [place_of(file, first, column) for column in columns]
        return places, any(isinstance(column, str) for column in columns)

    def _other_columns(self, where: str, given: Sequence[str]) -> str:
        """What is said of a table that is not as the run's own."""
        needed = " and ".join(map(str, self.columns)) if self.columns else f"{TEXT} (or one of any name) and {LABEL}"
        names = ", ".join(["NAME"] * len(self.columns or (TEXT, LABEL)))
        return (
            f"{where} names the columns {', '.join(map(repr, given[:6]))}, and not {needed}; name its own, the label's "
            f"last: data.columns=[{names}]"
        )

    def _objects(self, file: Source) -> Iterator[tuple[int, tuple[str, ...], Any]]:
        *names, label = map(str, self.columns or (TEXT, LABEL))
        for line, found in json_lines(file):
            texts = tuple(found.get(name) for name in names) if isinstance(found, dict) else (None,)
            if not all(isinstance(text, str) for text in texts) or label not in found:
                allowed = ", ".join(f'"{name}": "..."' for name in (*names, label))
                raise UserError(
                    f"{file.name}: line {line} has no {' and '.join((*names, label))}; allowed: {{{allowed}}}, or "
                    "name others: data.columns=[one, other]"
                )
            yield line, tuple(map(str, texts)), found[label]

    def _labels(self, line: int, given: Any) -> tuple[str, ...]:
        """The labels of one text: exactly one, or with `several` any number, each once, in the order given."""
        if self.several:
            if isinstance(given, str):
                each = given.split(self.separator) if given else []
            else:
                each = given if isinstance(given, list) else [given]
            return tuple(dict.fromkeys(self._label(line, one) for one in each))
        return (self._label(line, given),)

    def _label(self, line: int, given: Any) -> str:
        if isinstance(given, list) and not self.several:
            remedy = "the run gives each text one" if self.trained else "for any number of them set data.several=true"
            raise UserError(f"{self.name}: line {line} has a list of labels; {remedy}")
        if isinstance(given, bool) or not isinstance(given, (str, int)):  # not str | int, which is made anew each time
            or_list = ", or a list of these" if self.several else ""
            shown = json.dumps(given, ensure_ascii=False)  # as the file has it: null, true
            raise UserError(f"{self.name}: line {line} has the label {shown}; allowed: text or an integer{or_list}")
        label = str(given).strip()
        if not label:
            raise UserError(f"{self.name}: line {line} has an empty label; mend or delete it")
        if _CONTROL.search(label):
            raise UserError(
                f"{self.name}: line {line} has the label {label!r}; allowed: one line without tabs; mend it"
            )
        return label


def _check_divided(file: Source, first: Sequence[str]) -> None:
    """Refuses a table whose first row is one field by its format, and several by another."""
    if len(first) > 1:
        return
    comma = file.read.format == "csv"
    for mark, name, remedy in (
        (";", ";", f"divide it by {'commas' if comma else 'tabs'}"),
        ("\t", "tabs", "name it *.tsv"),
        (",", "commas", "name it *.csv"),
    ):
        if mark in first[0]:
            raise UserError(
                f"{file.name}: line 1 looks divided by {name}, and {'CSV' if comma else 'TSV'} is divided by "
                f"{'commas' if comma else 'tabs'}; {remedy}"
            )
