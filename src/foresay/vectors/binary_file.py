"""Vectors as word2vec's binary file: a line `WORDS WIDTH`, then each word, a blank, and its numbers.

The numbers are little-endian float32; a line's end may stand after them, as the original tool writes it, or not.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from foresay.vectors.gathered import BLANKS, Gathered, check_words
from foresay.vectors.opening import Source, written
from foresay.vectors.text_file import declared

LONGEST = 1 << 14  # bytes of a word, at most


def read(source: Source, most: int | None = None) -> tuple[list[str], np.ndarray]:
    """The words and the matrix (V, D) of a file; `most` of them at most."""
    head = source.look()
    said = declared(head)
    if said is None:
        raise source.wrong("byte 0", f"{head[:20]!r} is not 'WORDS WIDTH'")
    rows, width = said
    source.check_declared(rows, width, least=4 * width + 2)
    gathered = Gathered(source, width)
    wanted = rows if most is None else min(rows, most)
    at, left, blocks = len(head.partition(b"\n")[0]) + 1, b"", source.blocks()
    for number, block in enumerate(blocks):
        left += block[at:] if number == 0 else block
        used = _take(gathered, left, at, wanted)
        at, left = at + used, left[used:]
        if len(gathered.words) == wanted:
            break
    if len(gathered.words) < wanted:
        raise source.wrong(f"byte {at}", f"the file ends after word {len(gathered.words)} of {rows} declared")
    if wanted == rows and (left.strip(b"\r\n") or any(block.strip(b"\r\n") for block in blocks)):
        raise source.wrong(f"byte {at}", f"more words follow than the {rows} declared")
    return gathered.words, gathered.matrix()


def _take(gathered: Gathered, data: bytes, before: int, wanted: int) -> int:
    """Takes the rows that are whole in these bytes; how many bytes they are."""
    width, at = gathered.rows.shape[1], 0
    words: list[bytes] = []
    places: list[int] = []
    while len(gathered.words) + len(words) < wanted:
        begin = at
        while data[begin : begin + 1] == b"\n":
            begin += 1
        blank = data.find(b" ", begin, begin + LONGEST)
        if blank < 0 and len(data) - begin >= LONGEST:
            raise gathered.source.wrong(f"byte {before + begin}", f"no blank in {LONGEST} bytes: no word")
        if blank < 0 or blank + 1 + 4 * width > len(data):
            break
        words.append(data[begin:blank])
        places.append(blank + 1)
        at = blank + 1 + 4 * width
    rows = np.empty((len(words), width), np.float32)
    for row, place in enumerate(places):
        rows[row] = np.frombuffer(data, "<f4", width, place)
    _check(gathered, words, rows, places, before)
    gathered.add(words, rows, lambda row: f"byte {before + places[row]}")
    return at


def _check(gathered: Gathered, words: list[bytes], rows: np.ndarray, places: list[int], before: int) -> None:
    strange = [not word or BLANKS.search(word.decode("utf-8", "replace")) is not None for word in words]
    if any(strange):
        row = strange.index(True)
        what = f"the word {words[row][:40]!r} is empty or has blanks"
        raise gathered.source.wrong(f"byte {before + places[row]}", what)
    finite = np.isfinite(rows).all(1)
    if not finite.all():
        row = int(finite.argmin())
        what = f"the numbers of {words[row].decode('utf-8', 'replace')!r} are not all finite"
        raise gathered.source.wrong(f"byte {before + places[row]}", what)


def write(path: Path, words: list[str], matrix: np.ndarray) -> None:
    """Writes the file; packed where the name ends with .gz."""
    check_words(words, "word2vec")
    with written(path, packed=path.suffix == ".gz") as file:
        file.write(b"%d %d\n" % matrix.shape)
        for word, row in zip(words, matrix, strict=True):
            file.write(word.encode() + b" " + row.astype("<f4").tobytes() + b"\n")
