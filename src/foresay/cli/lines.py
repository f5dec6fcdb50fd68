"""Texts for a command: those of the line itself, of files (packed or not), and of a pipe as they come."""

from __future__ import annotations

import codecs
import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from foresay.errors import UserError

BEGINS = ("./", "../", "/", "~/")
PIPED = "standard input"
AT_ONCE = 2**16  # bytes: what a pipe of Linux holds
BLOCK = 256  # lines read together

Placed = tuple[str | None, str]  # where a line stands, and the line


class Pipe:
    """The lines of standard input, each as soon as it is there; `waits` where the next one is not.

    In UTF-8, whatever `encoding` they come in.
    """

    def __init__(self, encoding: str | None = None) -> None:
        self.recoded = Recoded(encoding)
        self.held: deque[bytes] = deque()
        self.reads = False

    @property
    def waits(self) -> bool:
        """Whether asking for another text may take until someone writes it."""
        return self.reads and not any(map(bytes.strip, self.held))

    def __iter__(self) -> Iterator[bytes]:
        file: Any = sys.stdin.buffer
        begun: list[bytes] = []  # a line whose end has not come
        self.reads = True
        while content := file.read1(AT_ONCE):  # what is there, and only where nothing is, what comes next
            *whole, rest = self.recoded(content).split(b"\n")
            if whole:
                whole[0] = b"".join([*begun, whole[0]])
                begun = []
            begun.append(rest)
            self.held.extend(whole)
            while self.held:
                yield self.held.popleft()
        begun.append(self.recoded(b"", end=True))
        if any(begun):
            yield b"".join(begun)
        self.reads = False


class Recoded:
    """Pieces of a text in any encoding -> the same in UTF-8."""

    def __init__(self, encoding: str | None) -> None:
        from foresay.data.decoding import check_encoding

        self.encoding = check_encoding(encoding or "utf-8")
        plain = self.encoding == "utf-8"  # what is none is told with its line
        self.decoder = None if plain else codecs.getincrementaldecoder(self.encoding)()

    def __call__(self, content: bytes, *, end: bool = False) -> bytes:
        if self.decoder is None:
            return content
        try:
            return self.decoder.decode(content, end).encode("utf-8", "replace")
        except UnicodeError:
            raise UserError(f"{PIPED} is not {self.encoding}; say its encoding: --encoding NAME") from None


def read_lines(texts: Iterable[str]) -> Iterator[str]:
    """The lines of a pipe, of files, or the texts themselves; read one by one."""
    return (line for _, line in placed_lines(texts))


def placed_lines(texts: Iterable[str], pipe: Pipe | None = None, encoding: str | None = None) -> Iterator[Placed]:
    """The same, each with where it stands: `FILE line 3`; None for a text itself.

    A command that has the option gives the `encoding` of its files, utf-8 where none is said; a pipe has its own.
    """
    option = encoding is not None
    for text in texts:
        if text == "-":
            yield from _numbered(pipe or Pipe(encoding), PIPED, option)
        elif os.path.isfile(text):  # noqa: PTH113 - no error for a text too long to be a name
            yield from _numbered(file_lines(text, encoding), text, option)
        elif is_path(text):
            raise UserError(f"{text} is no file; give a file of lines, - for a pipe, or the text itself")
        else:
            yield None, text


def single(found: Iterable[Placed]) -> Iterator[Placed]:
    """The same, each of a file or pipe held to be one line, as training does with rows."""
    from foresay.data.records import RETURN, ZERO

    for place, line in found:
        if place is not None and ((zero := "\0" in line) or "\r" in line):
            raise UserError(f"{place} {ZERO if zero else RETURN}")
        yield place, line


def begun(found: Iterator[Placed], texts: Iterable[str], to: str) -> Iterator[Placed]:
    """The same lines, once there is one that is not blank."""
    first: list[Placed] = []
    for one in found:
        first.append(one)
        if one[1].strip():
            return chain(first, found)
    names = ", ".join(PIPED if text == "-" else text for text in texts)
    raise UserError(f"there is nothing to {to} in {names}; give texts with words")


def blocks(found: Iterable[Placed], pipe: Pipe) -> Iterator[list[Placed]]:
    """Lines that are read together: of a pipe what has come, so that it is answered before the next is written.

    Those before one that cannot be read come before its error.
    """
    block: list[Placed] = []
    try:
        for one in found:
            block.append(one)
            if len(block) == BLOCK or pipe.waits:
                yield block
                block = []
    except UserError:
        if block:
            yield block
        raise
    if block:
        yield block


def is_path(text: str) -> bool:
    """Whether a text that names no file was plainly meant to: by how it ends, or begins."""
    from foresay.data.compressed import PACKED_NAMES
    from foresay.data.source import NAMES
    from foresay.data.tag_files import ENDINGS

    ends = (".txt", ".md", ".zip", *NAMES, *ENDINGS, *PACKED_NAMES)
    return text.lower().endswith(ends) or (text.startswith(BEGINS) and not any(map(str.isspace, text)))


def holds(name: str) -> tuple[Literal["lines", "table", "tags", "else"], str]:
    """What a file holds, by its name, and how that ends; of FASTA, sequences are the lines."""
    from foresay.data.source import ending_of, format_of
    from foresay.data.tag_files import ENDINGS

    end, form = ending_of(Path(name)), format_of(Path(name))
    if form in ("csv", "tsv", "jsonl"):
        return "table", end
    if form not in ("text", "fasta") or end == ".json":
        return "else", end
    return ("tags" if end in ENDINGS else "lines"), end


def file_lines(name: str, encoding: str | None = None) -> Iterator[bytes]:
    """The lines of a file in UTF-8, or the sequences of FASTA, unpacked where it is packed, as training reads it."""
    from foresay.data.advice import as_options
    from foresay.data.compressed import Damaged, NotText, packing, unpacked
    from foresay.data.decoding import Decoded, check_encoding
    from foresay.data.records import lines_of as split
    from foresay.data.records import sequences
    from foresay.data.source import format_of

    path = Path(name)
    with path.open("rb") as raw:
        try:
            file = unpacked(raw, packing(path))
            plain = check_encoding(encoding or "utf-8") == "utf-8"
            file = file if plain else Decoded(file, encoding or "", replace=False)
            yield from map(str.encode, sequences(file)) if format_of(path) == "fasta" else split(file)
        except (Damaged, NotText) as error:
            raise UserError(as_options(f"{name} {error}")) from None


def _numbered(found: Iterable[bytes], name: str, option: bool) -> Iterator[tuple[str, str]]:
    from foresay.data.source import format_of

    lines = lines_of(found, name, option=option)
    what = "sequence" if format_of(Path(name)) == "fasta" else "line"
    return ((f"{name} {what} {number}", line) for number, line in enumerate(lines, 1))


def lines_of(found: Iterable[bytes], name: str, *, option: bool = False) -> Iterator[str]:
    """Lines as text, without a byte order mark and what ends them; `option` says whether there is an --encoding."""
    for number, content in enumerate(found, 1):
        try:
            line = content.decode("utf-8")
        except UnicodeDecodeError as error:
            first = content if number == 1 else b""
            how = (
                f"say its encoding: --encoding {named(first)}" if option else f"convert it, as with {conversion(first)}"
            )
            raise UserError(f"{name} line {number} is not UTF-8: byte 0x{content[error.start]:02X}; {how}") from None
        yield (line.removeprefix("\ufeff") if number == 1 else line).removesuffix("\r")


def named(first: bytes) -> str:
    """The encoding of what begins with these bytes, or else the likeliest one."""
    from foresay.data.decoding import marked

    return marked(first) or "latin-1"


def conversion(first: bytes) -> str:
    """The command that makes UTF-8 of what begins with these bytes."""
    return f"iconv -f {named(first).replace('latin-1', 'latin1')} -t utf-8"
