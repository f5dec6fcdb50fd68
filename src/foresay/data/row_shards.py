"""Shards of rows with an answer: documents as any text has them, what belongs to each beside it, and its line.

train/            ids, documents.bin, meta.json
train/source/     what belongs to them, as many documents: source, tags
train/lines.bin   int64: the line that each row begins on, for what is said about it
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np

from foresay.data.shards import Shards, ShardWriter
from foresay.errors import UserError

Side = tuple[list[np.ndarray], Sequence[str]]  # ids, and the texts they are of where these are counted


class RowShards(Shards):
    """Documents and the lines they begin on."""

    differ = "rows and lines"  # what does not fit where the shards are damaged

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.lines = numbers(folder / "lines.bin", "<i8")
        self.check(len(self.lines) == self.documents)

    def check(self, whole: bool) -> None:
        if not whole:
            raise UserError(
                f"{self.folder} is damaged: {self.differ} differ; delete {self.folder.parent} and prepare again"
            )

    def refuse_above(self, longest: int | None, sizes: np.ndarray, name: str, what: str, remedy: str) -> None:
        """Refuses a row that is longer than there are positions; `what` has places for its size and the limit."""
        if longest is not None and len(sizes) and sizes.max() > longest:
            at = int(sizes.argmax())
            told = what.format(sizes[at], longest)
            raise UserError(f"{name}: line {self.lines[at]} {told}: {remedy}")


class RowWriter:
    """Writes the rows of one part into a folder; `beside` names what belongs to them, with its number of symbols."""

    def __init__(self, folder: Path, vocabulary: int, **beside: int):
        self.folder, self.lines = folder, [np.empty(0, np.int64)]
        self.own = ShardWriter(folder, vocabulary)
        self.beside = {name: ShardWriter(folder / name, size) for name, size in beside.items()}

    def add(self, lines: Sequence[int], ids: list[np.ndarray], texts: Sequence[str], **beside: Side) -> None:
        """Appends rows: the lines they begin on, their ids and texts, and the same of what is beside them."""
        self.lines.append(np.array(lines, np.int64))
        for writer, (own, of) in [(self.own, (ids, texts)), *((self.beside[name], beside[name]) for name in beside)]:
            writer.add(own)
            writer.meta.characters += sum(map(len, of)) + len(of)
            writer.meta.bytes += sum(len(text.encode("utf-8", "replace")) for text in of) + len(of)

    def finish(self) -> int:
        """Puts everything on the disk; how many rows there are."""
        np.concatenate(self.lines).astype("<i8").tofile(self.folder / "lines.bin")
        for writer in (*self.beside.values(), self.own):
            writer.finish()
        return self.own.meta.documents

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for writer in (*self.beside.values(), self.own):
            writer.__exit__(*error)


def lengths(shards: Shards) -> np.ndarray:
    """The tokens of each document, its STOP too."""
    return np.diff(np.asarray(shards.ends), prepend=0)


def documents(shards: Shards, rows: np.ndarray) -> list[np.ndarray]:
    """The ids of some documents, STOP at the end of each."""
    ends = shards.ends
    return [shards.slice(int(ends[row - 1]) if row else 0, int(ends[row])) for row in rows.tolist()]


def numbers(path: Path, kind: str) -> np.ndarray:
    """The numbers of a file; none where it is missing."""
    try:
        return np.fromfile(path, kind)
    except FileNotFoundError:
        return np.empty(0, kind)
