"""Texts with labels: which tables, which columns, and what is held out for validation.

`train`, `valid` and `test` are each

    reviews.csv              a table with a text and its label (CSV, TSV, JSON lines)
    builtin:languages  sst2  texts that are made here, or a known set; both bring their own valid and test
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from foresay.data import builtin
from foresay.data.decoding import check_encoding
from foresay.data.label_files import LabelText
from foresay.data.label_shards import LabelSet
from foresay.data.made import made_rows
from foresay.data.rows import Rows
from foresay.data.source import Reading, Source, format_of
from foresay.errors import UserError
from foresay.parts import Share, part

PAIRED = ("builtin:entailment",)  # made sets whose rows have two texts


@dataclass(frozen=True)
class LabelReading:
    """How tables become texts with labels: their format, the columns, their encoding; one label or several."""

    format: Literal["auto", "jsonl", "csv", "tsv"] = "auto"
    columns: list[str | int] | None = None
    encoding: str = "utf-8"
    errors: Literal["strict", "replace"] = "strict"
    several: bool = False
    separator: str = "|"
    between: str = "|||"  # what joins two texts, where there are three columns
    without: list[str] | None = None  # rows with such a label are left out


@part("data", "labels")
class Labels(Rows):
    """Texts with labels from a table (CSV, TSV, JSON lines), or from a known set."""

    known: LabelSet | None = None  # the only labels there may be: a trained model's

    def __init__(
        self,
        train: str,
        valid: str | None = None,
        test: str | None = None,
        share: Share = 0.1,
        read: LabelReading = LabelReading(),  # noqa: B008 - frozen
    ):
        self.train, self.valid, self.test, self.share, self.read = train, valid, test, share, read
        check_encoding(read.encoding)
        if read.columns is not None and len(read.columns) not in (2, 3):
            raise UserError(
                f"data.columns={read.columns}; allowed: two, the text's and the label's, or three, of two texts and "
                "the label"
            )
        if read.columns is not None and len(set(read.columns)) < len(read.columns):
            raise UserError(f"data.columns={read.columns} names one twice; allowed: another column for each")
        if read.without and read.several:
            raise UserError(
                f"data.without={read.without} with data.several=true; allowed: one label a text: leave one of them out"
            )
        if len(read.between.split()) != 1:
            raise UserError(f"data.between={read.between!r}; allowed: what stands between two texts, such as |||")
        if not read.separator:
            raise UserError("data.separator=''; allowed: what stands between two labels, such as |")

    @property
    def several(self) -> bool:
        """Whether a text may have any number of labels, not one."""
        return self.read.several

    @property
    def columns(self) -> list[str | int] | None:
        """Which columns of a table are meant."""
        return self.read.columns

    @property
    def two(self) -> bool:
        """Whether every text is two, with `between` between them."""
        return len(self.read.columns or ()) == 3 or self.train in PAIRED

    def brought(self, place: str, name: str, seed: int) -> LabelText | None:
        """A part of a place that brings several; None where it brings none."""
        if place.startswith(builtin.PREFIX):
            rows = made_rows("labels", place, seed)[name]
            without = self.read.without or ()
            return LabelText(f"{place} ({name})", made=rows, between=self.read.between, without=without)
        if Path(place).expanduser().is_file():
            return None
        files = builtin.known_labels(place)
        return None if files is None else self.of_file(files[name])

    def of_file(self, path: Path) -> LabelText:
        form = format_of(path) if self.read.format == "auto" else self.read.format
        if form not in ("jsonl", "csv", "tsv"):
            how = "the name of the file" if self.known else "data.format"
            raise UserError(f"{path} is no table, and labels need one: CSV, TSV or JSON lines; {how} says which it is")
        read = Reading(format=form, encoding=self.read.encoding, errors=self.read.errors)
        own = {name: getattr(self.read, name) for name in ("columns", "several", "separator", "between")}
        own |= {"without": self.read.without or (), "trained": self.known is not None}
        return LabelText(str(path), Source(str(path), path, read=read), **own)
