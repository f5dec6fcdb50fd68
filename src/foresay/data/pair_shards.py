"""Shards of pairs: the targets as any text has them, and their sources beside them.

train/            targets: ids, documents.bin, meta.json, and lines.bin as row_shards.py has it
train/source/     sources, as many documents
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from foresay.data.frame_shards import FRAMES, KeywordShards, SpeechShards
from foresay.data.label_shards import LabelShards
from foresay.data.levels import FILE as LEVELS
from foresay.data.levels import LevelShards
from foresay.data.row_shards import RowShards, lengths
from foresay.data.series_form import FILE as SERIES
from foresay.data.series_shards import SeriesShards
from foresay.data.shards import Shards
from foresay.data.tag_shards import TagShards


class PairShards(RowShards):
    """The targets of pairs; `source` has their sources."""

    differ = "its sides"

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.source = Shards(folder / "source")
        self.check(self.documents == self.source.documents)

    def check_lengths(
        self, name: str, longest: int | None, setting: str, side: Literal["source", "target"] = "source"
    ) -> None:
        """Refuses a source that is longer than an encoder has positions for, or a target and a writer."""
        what = f"has a {side} of {{}} tokens, <stop> among them; {setting} ends at {{}}"
        remedy = "raise it, take sinusoidal positions, or shorten the line"
        self.refuse_above(longest, lengths(self.source if side == "source" else self), name, what, remedy)


def opened(folder: Path) -> Shards:
    """Shards of a text, of pairs, of words and their tags, of texts with labels, or of pictures and sounds."""
    if (folder / FRAMES).is_file():
        return KeywordShards(folder) if (folder / "labels.bin").is_file() else SpeechShards(folder)
    if (folder.parent / SERIES).is_file():
        return SeriesShards(folder)  # pyright: ignore[reportReturnType]
    if (folder / "tags").is_dir():
        return TagShards(folder)
    if (folder / "labels.bin").is_file():
        return LevelShards(folder) if (folder.parent / LEVELS).is_file() else LabelShards(folder)
    return PairShards(folder) if (folder / "source").is_dir() else Shards(folder)
