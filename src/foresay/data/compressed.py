"""Files as they lie on the disk -> their bytes: gzip, bzip2, xz and zstd are unpacked while they are read.

What a file is packed with is told by its first bytes, not by its name. A file cut short is never taken for whole.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from pathlib import Path
from typing import BinaryIO, Protocol

from foresay.extras import need

_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_OUT, _LEAST, _MOST = 2**20, 2**9, 2**17  # bytes of zstd: wanted at a time, and taken at least and at most
PACKED_NAMES = (".gz", ".bz2", ".xz", ".zst", ".zstd")


class Readable(Protocol):
    """What every stage of reading needs of the one before it."""

    def read(self, size: int, /) -> bytes: ...


class Buffered:
    """Pieces that come in any size -> reads of the size asked for; a child gives `more`."""

    def __init__(self) -> None:
        self.held, self.at = b"", 0  # what came, and how far it was read

    def more(self, size: int) -> bytes:
        """About `size` bytes more; none at the end."""
        raise AssertionError

    def read(self, size: int, /) -> bytes:
        while len(self.held) - self.at < size and (piece := self.more(size)):
            self.held, self.at = self.held[self.at :] + piece, 0
        found = self.held[self.at : self.at + size]
        self.at += len(found)
        return found


class NotText(Exception):
    """A file that is no text, or not the kind of text asked for: why, and what to do. A folder leaves it out."""


class Damaged(Exception):
    """A file that should be text but is broken: where, and what to do. Nothing goes on without it."""


def packing(path: Path) -> str | None:
    """gzip, bzip2, xz or zstd; None for a file that is not packed."""
    with path.open("rb") as file:
        first = file.read(8)
    return next((name for magic, name in _MAGIC.items() if first.startswith(magic)), None)


def unpacked(raw: BinaryIO, kind: str | None) -> Readable:
    """The bytes inside a file opened at its beginning."""
    if kind is None:
        return raw
    if kind == "zstd":
        return _Zstd(raw)
    return _Unpacked({"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}[kind](raw), kind)


class _Unpacked:
    """Python's own readers, with what goes wrong in words."""

    def __init__(self, file: Readable, kind: str):
        self.file, self.kind = file, kind

    def read(self, size: int, /) -> bytes:
        try:
            return self.file.read(size)
        except EOFError:
            raise Damaged(_CUT.format(self.kind)) from None
        except (OSError, zlib.error, lzma.LZMAError, ValueError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise Damaged(f"is damaged ({self.kind}: {error}); get it again") from None


class _Zstd(Buffered):
    """Frames one after the other; the library's own reader would take a file cut short for whole.

    What comes out of a few bytes has no limit: as many are taken at a time as give about `_OUT`, going by the last.
    """

    def __init__(self, raw: BinaryIO):
        super().__init__()
        library = need("zstandard", "files", "a file packed with zstd")
        self.raw, self.error = raw, library.ZstdError
        self.frame = library.ZstdDecompressor().decompressobj
        self.open, self.take = None, _LEAST

    def more(self, size: int) -> bytes:
        while True:
            packed = self.open.unused_data if self.open is not None and self.open.eof else b""
            packed = packed or self.raw.read(self.take)
            if not packed:
                if self.open is not None and not self.open.eof:
                    raise Damaged(_CUT.format("zstd"))
                return b""
            if self.open is None or self.open.eof:
                self.open = self.frame()
            try:
                found = self.open.decompress(packed)
            except self.error as error:
                raise Damaged(f"is damaged (zstd: {error}); get it again") from None
            self.take = min(max(_OUT * len(packed) // max(len(found), 1), _LEAST), _MOST)
            if found:
                return found


_CUT = "is cut short: its {} data end in the middle; get it again"
