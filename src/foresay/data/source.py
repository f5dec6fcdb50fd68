"""Where text comes from: a file of any format or a text made in memory, opened as one stream of UTF-8.

    file -> unpacked (gzip, xz, ...) -> decoded (data.encoding) -> the texts of a column (JSONL, CSV, Parquet, ...),
                                                                   or sequences (FASTA)

A plain text is one document. In a table each row is one, in FASTA each sequence, and in the stream a zero byte follows
each. A stream is read from its beginning or from any byte on, any number of times, and gives the same bytes each time;
only a plain file is entered without reading what comes before.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal

from foresay.data import records, tables
from foresay.data.compressed import PACKED_NAMES, Readable, packing, unpacked
from foresay.data.decoding import Decoded, check_encoding

BLOCK = 2**20  # bytes read at a time

NAMES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".arrow": "arrow"}
NAMES |= dict.fromkeys((".fasta", ".fa", ".faa", ".fna"), "fasta")


@dataclass(frozen=True)
class Reading:
    """How files become text: their format, the column that holds the text, their encoding, and what is left out."""

    format: Literal["auto", "text", "jsonl", "csv", "tsv", "fasta", "parquet"] = "auto"
    column: str | int | None = None
    encoding: str = "utf-8"
    errors: Literal["strict", "replace"] = "strict"
    duplicates: Literal["count", "drop"] = "count"
    broken: Literal["refuse", "drop"] = "refuse"  # rows of tables and lines of JSON that cannot be read
    blank: Literal["drop", "keep"] = "drop"  # lines without text, where a line is a sequence: kept, each is a <stop>


@dataclass(frozen=True)
class Source:
    """A file, a text that is made in memory (`content`), or a data set of the hub (`hub`)."""

    name: str
    path: Path | None = None
    content: bytes | None = None
    hub: str | None = None
    read: Reading = field(default_factory=Reading)

    @property
    def format(self) -> str:
        """text, jsonl, csv, tsv, fasta, parquet, arrow or hub."""
        if self.hub is not None:
            return "hub"
        if self.path is None:
            return "text"
        return format_of(self.path) if self.read.format == "auto" else self.read.format

    @property
    def has_records(self) -> bool:
        """Whether each row is a document; else the whole is one."""
        return self.format != "text"

    def state(self) -> tuple[int, int]:
        """Size and time of the last change: whether the source is still what was scanned."""
        if self.content is not None:
            return len(self.content), 0
        if self.hub is not None:
            rows = tables.hub_rows(self.hub)
            return rows.num_rows, hash(rows._fingerprint)
        assert self.path is not None
        stat = self.path.stat()
        return stat.st_size, stat.st_mtime_ns

    @contextmanager
    def open(self, start: int = 0) -> Iterator[Stream]:
        """The text as UTF-8 from byte `start` on."""
        if self.hub is not None or self.format in ("parquet", "arrow"):
            stream = self._table()
            stream.skip(start)
            yield stream
            return
        with io.BytesIO(self.content or b"") if self.path is None else self.path.open("rb") as raw:
            stream = Stream(self._text(raw), raw, self.state()[0])
            stream.skip(start)
            yield stream

    def _text(self, raw: BinaryIO) -> Readable:
        read = self.read
        file = unpacked(raw, packing(self.path) if self.path else None)
        if self.format == "text" and (check_encoding(read.encoding), read.errors) == ("utf-8", "strict"):
            return file
        file = Decoded(file, read.encoding, read.errors == "replace")
        if self.format == "text":
            return file
        broken = records.Broken(read.broken == "drop")
        if self.format == "jsonl":
            texts = records.json_lines(file, read.column, broken)
        elif self.format == "fasta":
            texts = records.sequences(file)
        else:
            texts = records.delimited(file, read.column, self.format == "csv", broken)
        return records.Joined(texts, file, read.errors == "replace", broken)

    def _table(self) -> Stream:
        shares: list[float] = []
        if self.hub is not None:
            texts = tables.hub_texts(self.hub, self.read.column, shares.append)
        else:
            assert self.path is not None
            read = tables.parquet if self.format == "parquet" else tables.arrow_file
            texts = read(self.path, self.read.column, shares.append)
        return Stream(records.Joined(texts, replace=self.read.errors == "replace"), None, 1, shares)


class Stream:
    """An opened source: bytes of its text, and how much of it has been read."""

    def __init__(self, file: Readable, raw: BinaryIO | None, size: int, shares: list[float] | None = None):
        self.file, self.raw, self.size, self.shares = file, raw, max(size, 1), shares

    def read(self, size: int) -> bytes:
        """At most `size` bytes; none at the end."""
        return self.file.read(size)

    def skip(self, size: int) -> None:
        """Goes over so many bytes."""
        if self.file is self.raw:
            assert self.raw is not None
            self.raw.seek(size, io.SEEK_CUR)
            return
        while size and (content := self.read(min(size, BLOCK))):
            size -= len(content)

    @property
    def share(self) -> float:
        """How much of the source has been read, 0 to 1."""
        if self.raw is None:
            return self.shares[-1] if self.shares else 0.0
        return min(self.raw.tell() / self.size, 1.0)

    @property
    def replaced(self) -> int:
        """How many bytes that were no text became U+FFFD so far."""
        joined = self.file if isinstance(self.file, records.Joined) else None
        decoded = joined.file if joined else self.file
        return (decoded.replaced if isinstance(decoded, Decoded) else 0) + (joined.replaced if joined else 0)

    @property
    def broken(self) -> int:
        """How many rows that cannot be read were left out so far."""
        return self.file.broken.count if isinstance(self.file, records.Joined) else 0


def format_of(path: Path) -> str:
    """What a file's name says it is: text where it says nothing else; what it is packed with does not count."""
    return NAMES.get(ending_of(path), "text")


def ending_of(path: Path) -> str:
    """How a file's name ends, in small letters, before what it is packed with."""
    name = path.name.lower()
    for packed in PACKED_NAMES:
        name = name.removesuffix(packed)
    return Path(name).suffix
