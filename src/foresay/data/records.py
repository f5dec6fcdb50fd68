"""Lines of JSON, CSV and TSV -> the texts of one column, one after the other, in little memory.

Which column: the one named (`data.column`), else `text`, else the only one. A number means the first, second, ...
column of a table without a header. A text that is empty or null is left out. TSV has no quotes: a tab divides fields,
whatever else they hold.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from typing import Any

from foresay.data.compressed import Damaged, NotText, Readable
from foresay.errors import nearest

_BLOCK = 2**20
DEFAULT = "text"
Column = str | int | None


def json_lines(file: Readable, column: Column) -> Iterator[str]:
    """The texts of a file with one JSON object, or one JSON string, a line."""
    if isinstance(column, int):
        raise NotText(f"holds JSON, which has no column {column}; give a name: data.column={DEFAULT}")
    for number, line in enumerate(_lines(file), 1):
        if not line or line.isspace():
            continue
        try:
            found = json.loads(line)
        except ValueError as error:
            raise Damaged(f"line {number} is no JSON ({error}); mend or delete it") from None
        text = found if isinstance(found, str) and column is None else _field(found, column, number)
        if text:
            yield checked(text, f"line {number}")


def _field(found: Any, column: str | None, number: int) -> str | None:
    if not isinstance(found, dict):
        raise Damaged(f"line {number} holds {_kind(found)}; allowed: an object such as {{'{DEFAULT}': '...'}}")
    names = [str(name) for name in found]
    name = column or (names[0] if len(names) == 1 else DEFAULT)
    if name not in found:
        raise (NotText if number == 1 else Damaged)(no_column(name if column else None, names, f"line {number} "))
    text = found[name]
    if text is not None and not isinstance(text, str):
        raise Damaged(f"line {number}: {name} is {_kind(text)}, not a text; name another column with data.column")
    return text


def delimited(file: Readable, column: Column, comma: bool) -> Iterator[str]:
    """The texts of a column of CSV (`comma`) or TSV."""
    csv.field_size_limit(2**27)
    lines = (line.decode("utf-8") for line in _lines(file, keep_ends=True))
    style: dict[str, Any] = (
        {"delimiter": ",", "strict": True} if comma else {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
    )
    rows = csv.reader(lines, **style)
    try:
        header = next(rows, [])
        at, ahead = (_numbered(column, header), [header]) if isinstance(column, int) else (_named(column, header), [])
        for row in ahead:
            yield from _text(row[at], 1)
        for row in rows:
            if not row:
                continue
            if len(row) != len(header):
                raise Damaged(
                    f"line {rows.line_num} has {len(row)} fields, the first line has {len(header)}; mend the line "
                    f"({'quote a field that holds a comma' if comma else 'a tab inside a field divides it'})"
                )
            yield from _text(row[at], rows.line_num)
    except csv.Error as error:
        raise Damaged(f"line {rows.line_num} is no CSV ({error}); mend it, or read it with data.format=text") from None


def _text(field: str, line: int) -> Iterator[str]:
    if field and not field.isspace():
        yield checked(field, f"line {line}")


def _numbered(column: int, first: Sequence[str]) -> int:
    if not 1 <= column <= len(first):
        raise NotText(f"has no column {column}; allowed: 1 to {len(first)}")
    return column - 1


def _named(column: str | None, header: Sequence[str]) -> int:
    if column is None and len(header) == 1:
        return 0
    if (column or DEFAULT) not in header:
        raise NotText(no_column(column, header))
    return list(header).index(column or DEFAULT)


def no_column(column: str | None, names: Sequence[str], where: str = "") -> str:
    """What is said when the wanted column is not there."""
    shown = ", ".join(list(names)[:20]) or "none"
    if column is None:
        return f"{where}has the columns {shown} and none called {DEFAULT}; name one: data.column=..."
    return f"{where}has no column {column!r}; allowed: {shown}{nearest(column, list(names))}"


def checked(text: str, where: str) -> str:
    """A text without zero bytes, which divide texts here; lone surrogates, which JSON can spell, become "?"."""
    if "\0" in text:
        raise Damaged(f"{where} holds a zero byte in its text; mend or delete it")
    return text


def _kind(value: Any) -> str:
    kinds = {list: "a list", dict: "an object", bool: "true or false", int: "a number", float: "a number"}
    return kinds.get(type(value), "null" if value is None else "a text")


def _lines(file: Readable, keep_ends: bool = False) -> Iterator[bytes]:
    """The lines of a stream; only a newline ends one."""
    held: list[bytes] = []
    while block := file.read(_BLOCK):
        *whole, rest = block.split(b"\n")
        if whole and held:
            whole[0] = b"".join([*held, whole[0]])
            held = []
        yield from (line + b"\n" for line in whole) if keep_ends else whole
        if rest:
            held.append(rest)
    if held:
        yield b"".join(held)


class Joined:
    """Texts as one stream of UTF-8, each followed by a zero byte, which no text holds."""

    def __init__(self, texts: Iterator[str], file: Readable | None = None):
        self.texts, self.file, self.held = texts, file, b""

    def read(self, size: int, /) -> bytes:
        pieces, got = [self.held], len(self.held)
        while got < size:
            text = next(self.texts, None)
            if text is None:
                break
            pieces.append(text.encode("utf-8", "replace") + b"\0")
            got += len(pieces[-1])
        whole = b"".join(pieces)
        self.held = whole[size:]
        return whole[:size]
