"""Vectors as lines of text: word2vec's (fastText's .vec is the same) and GloVe's, which has no first line.

    400000 100                       how many words and how wide; not in GloVe's
    the 0.418 0.24968 -0.41242 ...
    of 0.70853 0.57088 -0.4716 ...

The numbers are written with nine digits, which give the same float32 again. Some of GloVe's own words have blanks
(". . ." and "at name@domain.com" of glove.840B): without a first line, the last D fields are the numbers of a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from foresay.errors import UserError
from foresay.vectors.gathered import Gathered, check_words
from foresay.vectors.opening import LOOK, Source, written

MARK = b"\xef\xbb\xbf"  # that some editors put before UTF-8
LONGEST = 1 << 26  # bytes of a line, at most
BLANK = re.compile(rb"[ \t\r]+")
LIMIT = 2.0**128 - 2.0**103  # from here on a float32 rounds to infinity
LOOKED = 100  # lines, at most, to find one whose word has no blanks
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_SIGNED = re.compile(rb"[+-]?\d+[ \t]+[+-]?\d+")
_DECLARED = re.compile(rb"[ \t]*(\d{1,30})[ \t]+(\d{1,30})[ \t\r]*")


def declared(head: bytes) -> tuple[int, int] | None:
    """How many words and how wide, where the first line says it."""
    found = _DECLARED.fullmatch(head.removeprefix(MARK).partition(b"\n")[0])
    return None if found is None else (int(found[1]), int(found[2]))


def read(source: Source, most: int | None = None) -> tuple[list[str], np.ndarray]:
    """The words and the matrix (V, D) of a file, with or without a first line; `most` of them at most."""
    head = source.look()
    said = declared(head)
    width = _width(source, head) if said is None else said[1]
    if said is not None:
        source.check_declared(*said, least=2 * width + 1)
    gathered, passed = Gathered(source, width), 0
    for block in _lines(source, skip=said is not None):
        passed += _take(gathered, block, passed + (said is not None), most, blanks=said is None)
        if most is not None and len(gathered.words) >= most:
            return gathered.words, gathered.matrix()
        if said is not None and len(gathered.words) > said[0]:
            break
    if said is not None and len(gathered.words) != said[0]:
        found = "larger" if len(gathered.words) > said[0] else str(len(gathered.words))
        raise source.wrong("line 1", f"{said[0]} is declared as the number of words, which is {found}")
    if not gathered.words:
        raise UserError(f"{source.path} holds no words; give a file of vectors")
    return gathered.words, gathered.matrix()


def _width(source: Source, head: bytes) -> int:
    """The width of a file that does not say it: the numbers of its first line that is one word and numbers."""
    line, end, rest = head.removeprefix(MARK).lstrip(b" \t\r\n").partition(b"\n")
    if not end and len(head) == LOOK:
        raise source.wrong("line 1", f"it is longer than {LOOK} bytes: these are no vectors")
    if len(line.split()) < 2:
        raise source.wrong("line 1", f"{line[:40]!r} is neither 'WORDS WIDTH' nor a word and its numbers")
    following = [fields for one in rest.split(b"\n")[:-1] if (fields := _fields(one))]
    if following and _SIGNED.fullmatch(line.strip()) and len(following[0]) != 2:
        raise source.wrong("line 1", f"{line.strip().decode()!r} is not 'WORDS WIDTH': two whole numbers of 1 or more")
    for fields in [_fields(line), *following[:LOOKED]]:
        if len(fields) > 1 and all(_is_number(one) for one in fields[1:]):
            return len(fields) - 1
    return len(_fields(line)) - 1


def _fields(line: bytes) -> list[bytes]:
    return [field for field in BLANK.split(line) if field]


def _is_number(field: bytes) -> bool:
    """Whether it is a number that a float32 can hold."""
    return _NUMBER.fullmatch(field) is not None and abs(float(field)) < LIMIT


def _lines(source: Source, *, skip: bool) -> Iterator[bytes]:
    """The file in blocks of whole lines, without its first one where that is to be skipped."""
    left, first = b"", True
    for block in source.blocks():
        if first:
            block, first = block.removeprefix(MARK), False
            block = block.partition(b"\n")[2] if skip else block
        cut = block.rfind(b"\n") + 1
        if cut:
            yield left + block[:cut]
            left = b""
        left += block[cut:]
        if len(left) > LONGEST:
            raise UserError(f"{source.path} has a line longer than {LONGEST} bytes; these are no vectors")
    if left:
        yield left + b"\n"


def _take(gathered: Gathered, block: bytes, before: int, most: int | None, *, blanks: bool) -> int:
    """Takes the rows of a block of lines, `before` of which came earlier; how many lines it has.

    With `blanks`, words may have some.
    """
    from foresay.kernels import numbers as kernel  # numba takes a second to import

    width, first, lines = gathered.rows.shape[1], 0, 0
    while first < len(block):
        room = (len(block) - first) // (2 * width + 2) + 1  # no line is shorter; one more, for a line that is wrong
        room = room if most is None else min(room, most - len(gathered.words))
        values, spans = np.empty((room, width), np.float32), np.empty((room, 3), np.int64)
        rows, line, at, wrong = kernel.read_rows(np.frombuffer(block, np.uint8)[first:], values, spans)
        found = [block[first + begin : first + end] for begin, end, _ in spans[:rows].tolist()]
        passed = before + lines + 1
        gathered.add(found, values[:rows], lambda row, spans=spans, passed=passed: f"line {passed + spans[row, 2]}")
        lines += line
        if wrong == kernel.FINE:
            break
        begin, end = (first + int(place) for place in spans[rows, :2])
        stop = block.index(b"\n", begin)
        spelt = _spelt(block[begin:stop], width) if blanks else None
        if spelt is None:
            at += 0 if wrong == kernel.TOO_FEW else first  # there it is how many
            complaint = _complaint(block, begin, end, at, width, wrong)
            raise gathered.source.wrong(f"line {before + lines + 1}", complaint)
        where = f"line {before + lines + 1}"
        gathered.add([spelt[0]], spelt[1], lambda _, where=where: where)
        first, lines = stop + 1, lines + 1
        if most is not None and len(gathered.words) >= most:
            break
    return lines


def _spelt(line: bytes, width: int) -> tuple[bytes, np.ndarray] | None:
    """The word with blanks and the numbers of a line; None where it is no such line: a last piece is no number."""
    fields = _fields(line)
    word, numbers = fields[:-width], fields[-width:]
    if len(word) < 2 or _is_number(word[-1]) or not all(_is_number(one) for one in numbers):
        return None
    return b" ".join(word), np.array([[float(one) for one in numbers]], np.float32)


def _complaint(block: bytes, begin: int, end: int, at: int, width: int, wrong: int) -> str:
    from foresay.kernels import numbers as kernel

    word = block[begin:end][:40].decode("utf-8", "replace")
    if wrong == kernel.TOO_FEW:
        return f"{word!r} has {at} of {width} numbers"
    if wrong == kernel.TOO_MANY:
        return f"{word!r} has more numbers than {width}"
    given = re.split(rb"\s", block[at : at + 40], maxsplit=1)[0].decode("utf-8", "replace")
    if wrong == kernel.TOO_LARGE:
        return f"{given} is too large a number"
    return f"{given!r} after {word!r} should be a finite number"


def write(path: Path, words: list[str], matrix: np.ndarray, *, header: bool) -> None:
    """Writes word2vec's form, or GloVe's without a header; packed where the name ends with .gz."""
    check_words(words, "word2vec" if header else "GloVe")
    form = "%s " + " ".join(["%.9g"] * matrix.shape[1]) + "\n"
    with written(path, packed=path.suffix == ".gz") as file:
        if header:
            file.write(b"%d %d\n" % matrix.shape)
        for word, row in zip(words, matrix, strict=True):
            file.write((form % (word, *row.tolist())).encode())
