"""Lines of JSON, CSV and TSV -> the texts of one column, and FASTA -> its sequences; one by one, in little memory.

Which column: the one named (`data.column`), else `text`, else the only one. A number means the first, second, ...
column of a table without a header. A text that is empty or null is left out. TSV has no quotes: a tab divides fields,
whatever else they hold.

A row that cannot be read is a mistake, or is left out and counted (`Broken`).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from typing import Any

from foresay.data.advice import OR_DROP
from foresay.data.compressed import Buffered, Damaged, NotText, Readable
from foresay.errors import nearest

_BLOCK = 2**20
DEFAULT = "text"
RETURN = "has a carriage return within; end every line with a line feed, as dos2unix and mac2unix do"
ZERO = "holds a zero byte in its text; mend or delete it"
Column = str | int | None


class Broken:
    """What becomes of a row that cannot be read: a mistake, or with `drop` left out and counted."""

    def __init__(self, drop: bool):
        self.drop, self.count = drop, 0

    def met(self, error: Damaged) -> None:
        """Another such row."""
        if not self.drop:
            raise Damaged(f"{error}{OR_DROP}") from None
        self.count += 1


STRICT = Broken(drop=False)  # counts nothing


def json_lines(file: Readable, column: Column, broken: Broken = STRICT) -> Iterator[str]:
    """The texts of a file with one JSON object, or one JSON string, a line."""
    if isinstance(column, int):
        raise NotText(f"holds JSON, which has no column {column}; give a name: data.column={DEFAULT}")
    for number, line in enumerate(lines_of(file), 1):
        if not line or line.isspace():
            continue
        try:
            found = json.loads(line)
            if not isinstance(found, str) or column is not None:
                column = column or _only_or_text(found, number)
                found = _field(found, column, number)
            if found and not found.isspace():
                yield checked(found, f"line {number}")
        except (ValueError, RecursionError) as error:
            broken.met(Damaged(f"line {number} {no_json(error)}"))
        except Damaged as error:
            broken.met(error)


def no_json(error: ValueError | RecursionError) -> str:
    """What is said of a line that Python's reader of JSON refuses."""
    if isinstance(error, json.JSONDecodeError):
        return f"is no JSON ({error.msg} at column {error.colno}); mend or delete it"
    why = "it is nested too deep" if isinstance(error, RecursionError) else "a number has too many digits"
    return f"is no JSON we can read ({why}); mend or delete it"


def no_table(error: csv.Error, comma: bool, instead: str = "") -> str:
    """What is said of a row that Python's reader of tables refuses."""
    if "new-line" in str(error):
        return RETURN
    return f"is no {'CSV' if comma else 'TSV'} ({error}); mend it{instead}"


def _only_or_text(found: Any, number: int) -> str:
    """The column of all lines, by the first object."""
    names = list(map(str, found)) if isinstance(found, dict) else [DEFAULT]
    if len(names) != 1 and DEFAULT not in names:
        raise NotText(no_column(None, names, f"line {number} "))
    return names[0] if len(names) == 1 else DEFAULT


def _field(found: Any, column: str, number: int) -> str | None:
    if not isinstance(found, dict):
        raise Damaged(f"line {number} holds {_kind(found)}; allowed: an object such as {{'{column}': '...'}}")
    if column not in found:
        raise (NotText if number == 1 else Damaged)(no_column(column, list(map(str, found)), f"line {number} "))
    text = found[column]
    if text is not None and not isinstance(text, str):
        raise Damaged(f"line {number}: {column} is {_kind(text)}, not a text; name another column with data.column")
    return text


def delimited(file: Readable, column: Column, comma: bool, broken: Broken = STRICT) -> Iterator[str]:
    """The texts of a column of CSV (`comma`) or TSV."""
    csv.field_size_limit(2**27)
    lines = (line.decode("utf-8") for line in lines_of(file, keep_ends=True))
    style: dict[str, Any] = (
        {"delimiter": ",", "strict": True} if comma else {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
    )
    rows = csv.reader(lines, **style)
    begins, header = next(_rows(rows, comma, None), (1, None))
    if header is None:
        raise NotText("is empty; give a table with a header, or with data.column=1, 2, ... one without")
    at = _numbered(column, header) if isinstance(column, int) else _named(column, header)
    if isinstance(column, int):
        yield from _text(header[at], begins)
    for begins, row in _rows(rows, comma, broken):
        try:
            if len(row) != len(header):
                raise Damaged(
                    f"line {begins} has {fields(len(row))}, the first line has {len(header)}; mend the line "
                    f"({'quote a field that holds a comma' if comma else 'a tab inside a field divides it'})"
                )
            yield from _text(row[at], begins)
        except Damaged as error:
            broken.met(error)


def _rows(rows: Any, comma: bool, broken: Broken | None) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, each with the line on which it begins; without `broken` all must be whole."""
    while True:
        begins = rows.line_num + 1
        try:
            row = next(rows, None)
        except csv.Error as error:
            damaged = Damaged(f"line {begins} {no_table(error, comma, ', or read it with data.format=text')}")
            if broken is None or "unexpected end" in str(error):  # an open quote took all lines to the end for its own
                raise damaged from None
            broken.met(damaged)
            continue
        if row is None:
            return
        if row:
            yield begins, row


def sequences(file: Readable) -> Iterator[str]:
    """Those of FASTA: below each name, a line that begins with >, the lines of one; lines that begin with ; are left
    out."""
    pieces: list[str] | None = None
    for number, line in enumerate(lines_of(file), 1):
        text = line.decode("utf-8").strip()
        if not text or text.startswith(";"):
            continue
        if text.startswith(">"):
            if pieces:
                yield "".join(pieces)
            pieces = []
        elif pieces is None:
            raise NotText(
                f"line {number} stands below no name, and FASTA has one, >name, above each sequence; add it"
                ", or read it with data.format=text"
            )
        elif "\r" in text:
            raise Damaged(f"line {number} {RETURN}")
        else:
            pieces.append(checked(text, f"line {number}"))
    if pieces:
        yield "".join(pieces)


def fields(count: int) -> str:
    return f"{count} field{'' if count == 1 else 's'}"


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
    """A text without zero bytes, which divide texts here."""
    if "\0" in text:
        raise Damaged(f"{where} {ZERO}")
    return text


def _kind(value: Any) -> str:
    kinds = {list: "a list", dict: "an object", bool: "true or false", int: "a number", float: "a number"}
    return kinds.get(type(value), "null" if value is None else "a text")


def lines_of(file: Readable, keep_ends: bool = False) -> Iterator[bytes]:
    """The lines of a stream; only a newline ends one."""
    for block in whole_lines(file):
        *whole, rest = block.split(b"\n")
        yield from (line + b"\n" for line in whole) if keep_ends else whole
        if rest:
            yield rest


def whole_lines(file: Readable) -> Iterator[bytes]:
    """A stream in blocks that end with a newline; only the last of all may end without."""
    held: list[bytes] = []
    while block := file.read(_BLOCK):
        end = block.rfind(b"\n") + 1
        if end:
            yield b"".join([*held, block[:end]])
            held = []
        if end < len(block):
            held.append(block[end:])
    if held:
        yield b"".join(held)


class Joined(Buffered):
    """Texts as one stream of UTF-8, each followed by a zero byte, which no text holds.

    Half a character (a lone surrogate), which JSON can spell, is a mistake, or becomes "?" and is counted.
    """

    def __init__(
        self, texts: Iterator[str], file: Readable | None = None, replace: bool = False, broken: Broken = STRICT
    ):
        super().__init__()
        self.texts, self.file, self.replace, self.broken = texts, file, replace, broken
        self.replaced = 0

    def more(self, size: int) -> bytes:
        pieces, got = [], 0
        while got < size and (text := next(self.texts, None)) is not None:
            pieces.append(self._encoded(text) + b"\0")
            got += len(pieces[-1])
        return b"".join(pieces)

    def _encoded(self, text: str) -> bytes:
        try:
            return text.encode("utf-8")
        except UnicodeEncodeError as error:
            if not self.replace:
                shown = ascii(text[error.start])
                raise Damaged(
                    f"holds half a character ({shown} in {text[:20]!a}); mend it, or take data.errors=replace"
                ) from None
            self.replaced += sum("\ud800" <= character <= "\udfff" for character in text)
            return text.encode("utf-8", "replace")
