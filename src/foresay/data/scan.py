"""Reads a source whole before it is used: what it holds, whether it is text, and its SHA-256.

Nothing is written before every source has passed.
"""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from foresay.data.compressed import Damaged, NotText
from foresay.data.decoding import binary, not_text
from foresay.data.no_corpus import check_corpus
from foresay.data.source import BLOCK, Source, Stream


@dataclass(frozen=True)
class Facts:
    """What a scan found; `problem` says why the source cannot be used."""

    sha256: str  # of the text, whatever it was packed in
    bytes: int  # of the text as UTF-8; in a table each row with the zero byte after it
    bom: int  # bytes of a byte order mark, left out of the text
    longest: int  # bytes of the longest line
    longest_at: int  # its number, from 1
    problem: str | None = None
    damaged: bool = False  # the problem is no reason to leave the source out, but to stop
    documents: int = 1
    replaced: int = 0  # bytes that were no text and became U+FFFD
    broken: int = 0  # rows that could not be read and were left out

    @property
    def text_bytes(self) -> int:
        return self.bytes - self.bom


def scan(source: Source, on_share: Callable[[float], None] | None = None, block: int = BLOCK) -> Facts:
    """Reads a source whole; stops at the first thing that is no text."""
    scanned = _Scan(source.has_records)
    try:
        check_corpus(source)
        with source.open() as stream:
            while content := stream.read(block):
                scanned.add(content)
                if on_share:
                    on_share(stream.share)
            return scanned.facts(stream)
    except (NotText, Damaged) as error:
        joint = ": " if str(error).startswith(("line ", "row ")) else " "
        return scanned.refused(f"{source.name}{joint}{error}", isinstance(error, Damaged))


class _Scan:
    """The running figures of one scan."""

    def __init__(self, records: bool):
        self.records = records
        self.digest = hashlib.sha256()
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.size = self.bom = self.lines = self.longest = self.longest_at = self.open_line = self.documents = 0
        self.first = b""

    def add(self, content: bytes) -> None:
        if self.size == 0:
            self.first = content[:4]
            self.bom = len(codecs.BOM_UTF8) if content.startswith(codecs.BOM_UTF8) and not self.records else 0
        codes = np.frombuffer(content, np.uint8)
        if self.records:
            self.documents += content.count(b"\0")
            ends = np.flatnonzero((codes == 0x0A) | (codes == 0))
        else:
            self._check(content)
            ends = np.flatnonzero(codes == 0x0A)
        self._measure(ends, len(content))
        self.digest.update(content)
        self.size += len(content)

    def _check(self, content: bytes) -> None:
        if problem := binary(content, self.size, self.first):
            raise NotText(problem)
        pending = len(self.decoder.getstate()[0])
        try:
            self.decoder.decode(content)
        except UnicodeDecodeError as error:
            raise NotText(not_text(error.object[error.start], self.size - pending + error.start)) from None

    def _measure(self, ends: np.ndarray, size: int) -> None:
        if not len(ends):
            self.open_line += size
            return
        lengths = np.diff(ends, prepend=-1 - self.open_line) - 1
        widest = int(lengths.argmax())
        if lengths[widest] > self.longest:
            self.longest, self.longest_at = int(lengths[widest]), self.lines + widest + 1
        self.lines += len(ends)
        self.open_line = size - int(ends[-1]) - 1

    def facts(self, stream: Stream) -> Facts:
        if tail := self.decoder.getstate()[0]:
            raise NotText(not_text(tail[0], self.size - len(tail)))
        if self.open_line > self.longest:
            self.longest, self.longest_at = self.open_line, self.lines + 1
        return Facts(
            sha256=self.digest.hexdigest(),
            bytes=self.size,
            bom=self.bom,
            longest=self.longest,
            longest_at=self.longest_at,
            documents=self.documents if self.records else 1,
            replaced=stream.replaced,
            broken=stream.broken,
        )

    def refused(self, problem: str, damaged: bool) -> Facts:
        return Facts("", self.size, self.bom, self.longest, self.longest_at, problem, damaged)
