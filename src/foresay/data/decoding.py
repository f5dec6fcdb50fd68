"""Bytes in any encoding -> UTF-8, while they are read.

strict   a byte that is no text is a mistake: which byte, where, and what to do
replace  it becomes U+FFFD, and is counted
"""

from __future__ import annotations

import codecs

from foresay.data.advice import OR_REPLACE
from foresay.data.compressed import Buffered, NotText, Readable
from foresay.errors import UserError

REPLACED = "\ufffd"
_MARKS = {  # the longer ones first: UTF-32's begins as UTF-16's
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def check_encoding(name: str) -> str:
    """The name as Python spells it; a UserError for one it does not know."""
    try:
        found = codecs.lookup(name)
    except LookupError:
        found = None
    if found is None or not found._is_text_encoding:
        raise UserError(
            f"encoding={name!r} is no encoding; allowed: utf-8, latin-1, cp1252, gb18030, shift-jis or another of "
            "Python's"
        )
    return found.name


class Decoded(Buffered):
    """UTF-8 bytes of a stream in some encoding; `replaced` counts what was no text, when that is allowed."""

    def __init__(self, file: Readable, encoding: str, replace: bool):
        super().__init__()
        self.encoding = check_encoding(encoding)
        self.file = file
        self.decoder = codecs.getincrementaldecoder(self.encoding)("replace" if replace else "strict")
        # Reads beside the other: what only the first one has as U+FFFD was put there by it.
        self.without = codecs.getincrementaldecoder(self.encoding)("ignore") if replace else None
        self.begun = self.encoding != "utf-8"  # or a mark may come first, which is no text
        self.offset = self.replaced = 0

    def more(self, size: int) -> bytes:
        text, content = "", b"-"
        while content and not text:  # the first bytes of a character give none yet
            content = self.file.read(size)
            if self.offset == 0 and self.encoding == "utf-8" and (problem := binary(content, 0, content)):
                raise NotText(problem)
            text = self._decode(content)
            self.offset += len(content)
            if text and not self.begun:  # not by utf-8-sig, which loses the beginning of a mark at the end of a file
                text, self.begun = text.removeprefix("\ufeff"), True
        if "\0" in text:
            raise NotText("is binary: it holds zero bytes; give text, or say its encoding")
        return text.encode("utf-8", "replace")

    def _decode(self, content: bytes) -> str:
        pending = len(self.decoder.getstate()[0])
        try:
            text = self.decoder.decode(content, final=not content)
        except UnicodeDecodeError as error:
            at = self.offset - pending + error.start
            raise NotText(not_text(error.object[error.start], at, self.encoding)) from None
        except UnicodeError as error:  # UTF-16 without its mark
            raise NotText(f"is not {self.encoding} ({error}); say {self.encoding}-le or {self.encoding}-be") from None
        if self.without is not None:
            kept = self.without.decode(content, final=not content)
            self.replaced += text.count(REPLACED) - kept.count(REPLACED)
        return text


def not_text(byte: int, offset: int, encoding: str = "utf-8") -> str:
    """What is said of a byte that does not belong."""
    name = {"utf-8": "UTF-8"}.get(encoding, encoding)
    return (
        f"is not {name}: byte 0x{byte:02X} at offset {offset}; say its encoding (--encoding latin-1, or another)"
        f"{OR_REPLACE}"
    )


def marked(first: bytes) -> str | None:
    """The encoding that a file's first bytes name: utf-16 or utf-32."""
    return next((encoding for mark, encoding in _MARKS.items() if first.startswith(mark)), None)


def binary(content: bytes, offset: int, first: bytes) -> str | None:
    """What is said of a zero byte in a text; UTF-16 and UTF-32 are text with zero bytes, told by their first."""
    nul = content.find(b"\0")
    if nul < 0:
        return None
    if encoding := marked(first):
        return f"is {encoding.upper()}, not UTF-8: say so with --encoding {encoding}"
    return f"is binary: a zero byte at offset {offset + nul}; give text in UTF-8, or say its encoding"
