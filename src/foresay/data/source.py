"""Where text comes from: a file or a built-in text, opened for reading bytes, scanned once before use.

The scan reads a source whole, in blocks: the SHA-256 of its bytes, whether it is UTF-8 text, how many lines it has and
how long the longest is. Nothing is written before every source has passed.
"""

from __future__ import annotations

import codecs
import hashlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

BLOCK = 2**20  # bytes read at a time


@dataclass(frozen=True)
class Source:
    """A file, or a text that is made in memory (`content`)."""

    name: str
    path: Path | None = None
    content: bytes | None = None

    def open(self) -> BinaryIO:
        """The bytes, from the beginning."""
        if self.content is not None:
            return io.BytesIO(self.content)
        assert self.path is not None
        return self.path.open("rb")

    def state(self) -> tuple[int, int]:
        """Size and time of the last change: whether the source is still what was scanned."""
        if self.content is not None:
            return len(self.content), 0
        assert self.path is not None
        stat = self.path.stat()
        return stat.st_size, stat.st_mtime_ns


@dataclass(frozen=True)
class Facts:
    """What a scan found; `problem` says why the source is no text."""

    sha256: str
    bytes: int
    bom: int  # bytes of a byte order mark, left out of the text
    longest: int  # bytes of the longest line
    longest_at: int  # its number, from 1
    problem: str | None = None

    @property
    def text_bytes(self) -> int:
        return self.bytes - self.bom


def scan(source: Source, on_bytes: Callable[[int], None] | None = None, block: int = BLOCK) -> Facts:
    """Reads a source whole; stops at the first byte that is no UTF-8 text."""
    digest = hashlib.sha256()
    decoder = codecs.getincrementaldecoder("utf-8")()
    size = lines = longest = longest_at = open_line = bom = 0
    with source.open() as file:
        while content := file.read(block):
            if size == 0 and content.startswith(codecs.BOM_UTF8):
                bom = len(codecs.BOM_UTF8)
            problem = _problem(content, size, decoder)
            if problem:
                return Facts("", size, bom, longest, longest_at, f"{source.name} {problem}")
            newlines = np.flatnonzero(np.frombuffer(content, np.uint8) == 0x0A)
            if len(newlines):
                lengths = np.diff(newlines, prepend=-1 - open_line) - 1
                widest = int(lengths.argmax())
                if lengths[widest] > longest:
                    longest, longest_at = int(lengths[widest]), lines + widest + 1
                lines += len(newlines)
                open_line = len(content) - int(newlines[-1]) - 1
            else:
                open_line += len(content)
            digest.update(content)
            size += len(content)
            if on_bytes:
                on_bytes(len(content))
    if open_line > longest:
        longest, longest_at = open_line, lines + 1
    tail = decoder.getstate()[0]
    problem = f"{source.name} {_not_text(tail[0], size - len(tail))}" if tail else None
    return Facts(digest.hexdigest(), size, bom, longest, longest_at, problem)


def _problem(content: bytes, offset: int, decoder: codecs.IncrementalDecoder) -> str | None:
    nul = content.find(b"\0")
    if nul >= 0:
        return f"is binary: a zero byte at offset {offset + nul}; give plain text in UTF-8"
    pending = len(decoder.getstate()[0])
    try:
        decoder.decode(content)
    except UnicodeDecodeError as error:
        return _not_text(error.object[error.start], offset - pending + error.start)
    return None


def _not_text(byte: int, offset: int) -> str:
    return f"is not UTF-8: byte 0x{byte:02X} at offset {offset}; convert it, as with iconv -f latin1 -t utf-8"
