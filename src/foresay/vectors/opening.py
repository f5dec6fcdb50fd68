"""The bytes of a file of vectors: looked at, read and, where they are gzip, unpacked; written aside and renamed."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from foresay.errors import UserError

BLOCK = 1 << 22  # bytes read at a time
LOOK = 1 << 20  # bytes looked at to tell what a file is
WIDEST = 1 << 20  # numbers of a word


class Source:
    """A file of vectors: `look` at its beginning, then go through its `blocks`."""

    def __init__(self, path: Path, file: BinaryIO, packed: bool):
        self.path, self.file, self.packed = path, file, packed
        self.size = path.stat().st_size
        self.head: bytes | None = None

    def look(self) -> bytes:
        """The first bytes, which stay to be read."""
        if self.head is None:
            self.head = self.file.read(LOOK)
        return self.head

    def blocks(self) -> Iterator[bytes]:
        """All of it, in pieces of any size; once."""
        yield self.look()
        while block := self.file.read(BLOCK):
            yield block

    def wrong(self, where: str, what: str) -> UserError:
        return UserError(f"{self.path} {where}: {what}; write the file again")

    def check_declared(self, rows: int, width: int, least: int) -> None:
        """Refuses a header that says more than the file can hold; a row takes `least` bytes or more."""
        if not rows or not 0 < width <= WIDEST:
            what = f"'{rows} {width}' is declared; allowed: 1 or more words of 1 to {WIDEST} numbers"
            raise self.wrong("line 1", what)
        if not self.packed and rows * least > self.size:
            raise self.wrong("line 1", f"'{rows} {width}' is declared, and the file has only {self.size} bytes")


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """The file, unpacked; what goes wrong while it is read is one line."""
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            file = cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if packed else raw
            yield Source(path, file, packed)
    except FileNotFoundError:
        raise UserError(f"{path} is missing; give a file of vectors or the folder of a run") from None
    except (EOFError, zlib.error, OSError) as error:
        raise UserError(f"{path} cannot be read to its end: {error}; copy it again") from None


@contextmanager
def written(path: Path, *, packed: bool = False) -> Iterator[BinaryIO]:
    """A file that appears whole or not at all; the same contents give the same bytes, packed too."""
    if not path.parent.is_dir():
        raise UserError(f"{path.parent} is no folder; make it first, or give another place")
    if path.is_dir():
        raise UserError(f"{path} is a folder; give the name of a file")
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with aside.open("wb") as raw:
            if packed:
                with gzip.GzipFile("", "wb", 6, raw, mtime=0) as file:
                    yield cast("BinaryIO", file)
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
