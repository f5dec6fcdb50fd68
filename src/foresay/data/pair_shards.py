"""Shards of pairs: the targets as any text has them, and their sources beside them.

train/            targets: ids, documents.bin, meta.json
train/source/     sources, as many documents
train/lines.bin   int64: the line that each pair stood on, for what is said about it
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from foresay.data.label_shards import LabelShards
from foresay.data.shards import Shards, ShardWriter
from foresay.data.tag_shards import TagShards
from foresay.errors import UserError


class PairShards(Shards):
    """The targets of pairs; `source` has their sources."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.source = Shards(folder / "source")
        try:
            self.lines = np.fromfile(folder / "lines.bin", "<i8")
        except FileNotFoundError:
            self.lines = np.empty(0, np.int64)
        if not len(self.lines) == self.documents == self.source.documents:
            raise UserError(f"{folder} is damaged: its sides differ; delete {folder.parent} and prepare again")

    def check_lengths(
        self, name: str, longest: int | None, setting: str, side: Literal["source", "target"] = "source"
    ) -> None:
        """Refuses a source that is longer than an encoder has positions for, or a target and a writer."""
        sizes = lengths(self.source if side == "source" else self)
        if longest is not None and len(sizes) and sizes.max() > longest:
            at = int(sizes.argmax())
            raise UserError(
                f"{name}: line {self.lines[at]} has a {side} of {sizes[at]} tokens, <stop> among them; {setting} ends "
                f"at {longest}: raise it, take sinusoidal positions, or shorten the line"
            )


def lengths(shards: Shards) -> np.ndarray:
    """The tokens of each document, its STOP too."""
    return np.diff(np.asarray(shards.ends), prepend=0)


def opened(folder: Path) -> Shards:
    """Shards of a text, of pairs, of words and their tags, or of texts with labels."""
    if (folder / "tags").is_dir():
        return TagShards(folder)
    if (folder / "labels.bin").is_file():
        return LabelShards(folder)
    return PairShards(folder) if (folder / "source").is_dir() else Shards(folder)


class PairWriter:
    """Writes both sides of one part into a folder."""

    def __init__(self, folder: Path, source: int, target: int):
        self.folder, self.lines = folder, [np.empty(0, np.int64)]
        self.target = ShardWriter(folder, target)
        self.source = ShardWriter(folder / "source", source)

    def add(self, lines: Sequence[int], sides: Sequence[tuple[ShardWriter, Sequence[str], list[np.ndarray]]]) -> None:
        """Appends pairs: for each side its writer, its texts and their ids."""
        self.lines.append(np.array(lines, np.int64))
        for writer, texts, ids in sides:
            writer.add(ids)
            writer.meta.characters += sum(map(len, texts)) + len(texts)
            writer.meta.bytes += sum(len(text.encode("utf-8")) for text in texts) + len(texts)

    def finish(self) -> int:
        """Puts everything on the disk; how many pairs there are."""
        np.concatenate(self.lines).astype("<i8").tofile(self.folder / "lines.bin")
        for writer in (self.source, self.target):
            with writer:
                writer.finish()
        return self.target.meta.documents
