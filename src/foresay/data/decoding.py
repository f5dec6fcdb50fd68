"""Bytes in any encoding -> UTF-8, while they are read.

strict   a byte that is no text is a mistake: which byte, where, and what to do
replace  it becomes U+FFFD, and is counted
"""

from __future__ import annotations

import codecs

from foresay.data.compressed import NotText, Readable
from foresay.errors import UserError

REPLACED = "\ufffd"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def check_encoding(name: str) -> str:
    """The name as Python spells it; a UserError for one it does not know."""
    try:
        found = codecs.lookup(name)
    except LookupError:
        found = None
    if found is None or not found._is_text_encoding:
        raise UserError(
            f"data.encoding={name!r} is no encoding; allowed: utf-8, latin-1, cp1252, gb18030, shift-jis or another of "
            "Python's"
        )
    return found.name


class Decoded:
    """UTF-8 bytes of a stream in some encoding; `replaced` counts what was no text, when that is allowed."""

    def __init__(self, file: Readable, encoding: str, replace: bool):
        name = "utf-8-sig" if encoding == "utf-8" else encoding
        self.file, self.encoding = file, encoding
        self.decoder = codecs.getincrementaldecoder(name)("replace" if replace else "strict")
        # Reads beside the other: what only the first one has as U+FFFD was put there by it.
        self.without = codecs.getincrementaldecoder(name)("ignore") if replace else None
        self.offset = self.replaced = 0
        self.held = b""

    def read(self, size: int, /) -> bytes:
        while len(self.held) < size:
            content = self.file.read(size)
            text = self._decode(content)
            self.offset += len(content)
            if "\0" in text:
                raise NotText("is binary: it holds zero bytes; give text")
            self.held += text.encode("utf-8", "replace")
            if not content:
                break
        found, self.held = self.held[:size], self.held[size:]
        return found

    def _decode(self, content: bytes) -> str:
        pending = len(self.decoder.getstate()[0])
        try:
            text = self.decoder.decode(content, final=not content)
        except UnicodeDecodeError as error:
            raise NotText(
                not_text(error.object[error.start], self.offset - pending + error.start, self.encoding)
            ) from None
        if self.without is not None:
            kept = self.without.decode(content, final=not content)
            self.replaced += text.count(REPLACED) - kept.count(REPLACED)
        return text


def not_text(byte: int, offset: int, encoding: str = "utf-8") -> str:
    """What is said of a byte that does not belong."""
    name = {"utf-8": "UTF-8"}.get(encoding, encoding)
    return (
        f"is not {name}: byte 0x{byte:02X} at offset {offset}; say its encoding (--encoding latin-1, or another), or "
        "take data.errors=replace, which counts what it replaces"
    )


def binary(content: bytes, offset: int, first: bytes) -> str | None:
    """What is said of a zero byte in a text; UTF-16 is text with zero bytes, and is told by its first two."""
    nul = content.find(b"\0")
    if nul < 0:
        return None
    if first.startswith(_UTF16):
        return "is UTF-16, not UTF-8: say so with --encoding utf-16"
    return f"is binary: a zero byte at offset {offset + nul}; give text in UTF-8, or say its encoding"
