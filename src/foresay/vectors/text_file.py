"""Vectors as lines of text: word2vec's (fastText's .vec is the same) and GloVe's, which has no first line.

    400000 100                       how many words and how wide; not in GloVe's
    the 0.418 0.24968 -0.41242 ...
    of 0.70853 0.57088 -0.4716 ...

The numbers are written with nine digits, which give the same float32 again.
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
        passed += _take(gathered, block, passed + (said is not None), most)
        if most is not None and len(gathered.words) >= most:
            return gathered.words, gathered.matrix()
        if said is not None and len(gathered.words) > said[0]:
            break
    if said is not None and len(gathered.words) != said[0]:
        more = "more" if len(gathered.words) > said[0] else str(len(gathered.words))
        raise source.wrong("line 1", f"{said[0]} words are declared, and {more} stand there")
    if not gathered.words:
        raise UserError(f"{source.path} holds no words; give a file of vectors")
    return gathered.words, gathered.matrix()


def _width(source: Source, head: bytes) -> int:
    """The width of a file that does not say it: the numbers of its first line."""
    line, end, _ = head.removeprefix(MARK).lstrip(b" \t\r\n").partition(b"\n")
    if not end and len(head) == LOOK:
        raise source.wrong("line 1", f"it is longer than {LOOK} bytes: these are no vectors")
    if len(line.split()) < 2:
        raise source.wrong("line 1", f"{line[:40]!r} is neither 'WORDS WIDTH' nor a word and its numbers")
    return len(line.split()) - 1


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


def _take(gathered: Gathered, block: bytes, before: int, most: int | None) -> int:
    """Takes the rows of a block of lines, `before` of which came earlier; how many lines it has."""
    from foresay.kernels import numbers as kernel  # numba takes a second to import

    width = gathered.rows.shape[1]
    room = len(block) // (2 * width + 2) + 1  # no line is shorter; one more, for a line that is wrong
    room = room if most is None else min(room, most - len(gathered.words))
    values, spans = np.empty((room, width), np.float32), np.empty((room, 3), np.int64)
    rows, line, at, wrong = kernel.read_rows(np.frombuffer(block, np.uint8), values, spans)
    if wrong != kernel.FINE:
        begin, end = spans[rows, :2]
        raise gathered.source.wrong(f"line {before + line + 1}", _complaint(block, begin, end, at, width, wrong))
    found = [block[begin:end] for begin, end, _ in spans[:rows].tolist()]
    gathered.add(found, values[:rows], lambda row: f"line {before + int(spans[row, 2]) + 1}")
    return line


def _complaint(block: bytes, begin: int, end: int, at: int, width: int, wrong: int) -> str:
    from foresay.kernels import numbers as kernel

    word = block[begin:end][:40].decode("utf-8", "replace")
    if wrong == kernel.TOO_FEW:
        return f"{at} numbers after {word!r}, and {width} are needed"
    if wrong == kernel.TOO_MANY:
        return f"more than {width} numbers after {word!r}"
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
