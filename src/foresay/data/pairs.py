"""Source and target: what is to be written from what; which texts, and what is held out for validation.

`train`, `valid` and `test` are each

    [train.en, train.de]      two files, line n of one belongs to line n of the other
    pairs.tsv                 a table with two columns (TSV, CSV, JSON lines)
    play.txt                  with format play or lines: what is said and what is answered
    builtin:dates  multi30k   pairs that are made here, or a known set; both bring their own valid and test

Both sides have one vocabulary, learnt from both, or the source has its own: `source_tokens`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from foresay.data import builtin
from foresay.data.decoding import check_encoding
from foresay.data.dialogue import RUN, TALKS, Talk
from foresay.data.made import made_rows
from foresay.data.pair_files import PairText
from foresay.data.rows import PARTS, Rows, file_of
from foresay.data.source import Reading, Source, format_of
from foresay.errors import UserError
from foresay.parts import Share, part
from foresay.text.tokens import Tokens

Place = str | list[str]


@dataclass(frozen=True)
class PairReading:
    """How files become pairs: their format, the two columns, their encoding, and which side is the source."""

    format: Literal["auto", "text", "jsonl", "csv", "tsv", "play", "lines"] = "auto"
    columns: list[str | int] | None = None
    encoding: str = "utf-8"
    errors: Literal["strict", "replace"] = "strict"
    reverse: bool = False  # the second is the source


@part("data", "pairs")
class Pairs(Rows):
    """Source and target from two files, from a table with two columns, or from a known set."""

    pictured = False  # True: a source is given as the file of a picture

    def __init__(
        self,
        train: str | list[str],
        valid: str | list[str] | None = None,
        test: str | list[str] | None = None,
        share: Share = 0.1,
        source_tokens: Tokens | None = None,
        read: PairReading = PairReading(),  # noqa: B008 - frozen
    ):
        self.train, self.valid, self.test, self.share = train, valid, test, share
        self.source_tokens, self.read = source_tokens, read
        check_encoding(read.encoding)
        if read.columns is not None and len(read.columns) != 2:
            raise UserError(f"data.columns={read.columns}; allowed: two, the source's and the target's")
        if read.columns is not None and read.columns[0] == read.columns[1]:
            raise UserError(f"data.columns={read.columns} are one column; allowed: two, the source's and the target's")

    def find(self, seed: int) -> dict[str, PairText]:
        found = {}
        for name, place in zip(PARTS, (self.train, self.valid, self.test), strict=True):
            if place is not None:
                found[name] = self._opened(place, name, seed)
            elif name != "train" and isinstance(self.train, str) and (own := self._own(self.train, name, seed)):
                found[name] = own
        return found

    @property
    def tabled(self) -> bool:
        """Whether pairs come from a table whose first line may name its columns."""
        return isinstance(self.train, str) and self.together == 1 and self.read.columns is None

    @property
    def reverse(self) -> bool:
        return getattr(self.read, "reverse", False)

    def another(self, place: Place, read: PairReading) -> Pairs:
        """Other pairs, read as these were."""
        if read.format in TALKS and not (isinstance(place, str) and format_of(Path(place)) == "text"):
            read = replace(read, format="auto")  # two files, or a table by its name, are no talk
        return Pairs(place, share=0.0, source_tokens=self.source_tokens, read=read)

    def source_of(self, given: str) -> str:
        """A source as it is given -> as it is encoded."""
        return given

    @property
    def together(self) -> int:
        return 1 if self._talk is None else RUN

    @property
    def _talk(self) -> Talk | None:
        return self.read.format if self.read.format in TALKS else None

    def _own(self, place: str, name: str, seed: int) -> PairText | None:
        """A part of a place that brings several; None where it brings none."""
        if place.startswith(builtin.PREFIX):
            made = made_rows("pairs", place, seed)
            return PairText(f"{place} ({name})", made=made[name], reverse=self.read.reverse)
        if Path(place).expanduser().exists():
            return None
        files = builtin.known_pairs(place) if self._talk is None else builtin.known_talk(place)
        return None if files is None or name not in files else self._of_files(files[name])

    def _opened(self, place: Place, name: str, seed: int) -> PairText:
        setting = f"data.{name}"
        if isinstance(place, list):
            if self._talk is not None:
                raise UserError(
                    f"{setting}={place} with data.format={self._talk}; allowed: one file: leave data.format out"
                )
            if len(place) != 2:
                raise UserError(f"{setting}={place}; allowed: two files, [source, target], or one table")
            return self._of_files([_file(setting, one) for one in place])
        own = self._own(place, name, seed)
        return own if own is not None else self._of_files([_file(setting, place)])

    def _of_files(self, paths: list[Path]) -> PairText:
        read = Reading(format="text", encoding=self.read.encoding, errors=self.read.errors)
        sources = [Source(str(path), path, read=read) for path in paths]
        if len(paths) == 1 and self._talk is None:
            form = format_of(paths[0]) if self.read.format == "auto" else self.read.format
            if form not in ("jsonl", "csv", "tsv"):
                raise UserError(
                    f"{paths[0]} is one file of lines, and pairs need two sides; give two files, "
                    "data.train=[train.en,train.de], or a table: TSV, CSV, JSON lines (data.format says which); "
                    "of talk, data.format=play or lines"
                )
            sources = [replace(sources[0], read=replace(read, format=form))]
        name = " + ".join(map(str, paths))
        return PairText(name, tuple(sources), columns=self.read.columns, reverse=self.read.reverse, talk=self._talk)


def _file(setting: str, name: str) -> Path:
    path = Path(name).expanduser()
    if path.is_dir():
        raise UserError(
            f"{setting}={name!r} is a folder; pairs want files: two, {setting}=[train.en,train.de], or one table"
        )
    return file_of(setting, name)
