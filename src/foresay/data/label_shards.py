"""Shards of texts with labels: the texts as any has them, and their labels beside them.

labels.json           the labels in the order of their numbers, and how often each stands in train
train/                ids, documents.bin, meta.json
train/labels.bin      int32: the labels' numbers, text after text
train/label_ends.bin  int64: where those of each text end
train/lines.bin       int64: the line that each text stood on, for what is said about it
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from foresay.data.shards import Shards, ShardWriter
from foresay.errors import UserError

LABELS = "labels.json"


@dataclass(frozen=True)
class LabelSet:
    """What a text may be labelled with; `several`: any number of them, not one."""

    names: tuple[str, ...]
    several: bool = False
    counts: tuple[int, ...] = ()  # in train

    def save(self, folder: Path) -> None:
        (folder / LABELS).write_text(json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n", "utf-8")

    @classmethod
    def read(cls, folder: Path) -> LabelSet:
        """What `save` left in a folder."""
        path = folder / LABELS
        try:
            found = json.loads(path.read_text("utf-8"))
            names, several, counts = tuple(found["names"]), found["several"], tuple(found["counts"])
            whole = all(isinstance(name, str) for name in names) and isinstance(several, bool)
            whole = whole and all(isinstance(count, int) for count in counts) and len(counts) == len(names) > 0
        except FileNotFoundError:
            raise UserError(f"{path} is missing; copy it back") from None
        except (OSError, ValueError, KeyError, TypeError):
            whole = False
            names, several, counts = (), False, ()
        if not whole:
            raise UserError(f"{path} is damaged; copy it again")
        return cls(names, several, counts)


def in_order(labels: Iterable[str]) -> list[str]:
    """Labels as people would list them: numbers by size, else by spelling."""
    found = list(labels)
    numbers = all(label.removeprefix("-").isdecimal() for label in found)
    return sorted(found, key=int) if numbers else sorted(found)


class LabelShards(Shards):
    """Texts with their labels."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.labels = LabelSet.read(folder.parent)
        self.lines, ends = (_numbers(folder / name, "<i8") for name in ("lines.bin", "label_ends.bin"))
        self.numbers, self.label_ends = _numbers(folder / "labels.bin", "<i4"), ends
        last = int(ends[-1]) if len(ends) else 0
        if not len(self.lines) == len(ends) == self.documents or last != len(self.numbers):
            raise UserError(f"{folder} is damaged: texts and labels differ; delete {folder.parent} and prepare again")

    def labels_of(self, rows: np.ndarray) -> np.ndarray:
        """The number of each text's label, (B,); where there are several, which ones it has, (B, C) of 0 and 1."""
        if not self.labels.several:
            return self.numbers[rows].astype(np.int64)
        found = np.zeros((len(rows), len(self.labels.names)), np.float32)
        for place, row in enumerate(rows.tolist()):
            found[place, self.numbers[self.label_ends[row - 1] if row else 0 : self.label_ends[row]]] = 1.0
        return found


class LabelWriter:
    """Writes the texts and labels of one part into a folder; `text` is to be closed."""

    def __init__(self, folder: Path, vocabulary: int):
        self.folder, self.text = folder, ShardWriter(folder, vocabulary)
        self.lines: list[int] = []
        self.numbers: list[int] = []
        self.ends: list[int] = []

    def add(self, lines: Sequence[int], texts: Sequence[str], ids: list[np.ndarray], labels: list[list[int]]) -> None:
        """Appends texts: the lines they stood on, their ids and the numbers of their labels."""
        self.text.add(ids)
        self.text.meta.characters += sum(map(len, texts)) + len(texts)
        self.text.meta.bytes += sum(len(text.encode("utf-8")) for text in texts) + len(texts)
        self.lines += lines
        for numbers in labels:
            self.numbers += numbers
            self.ends.append(len(self.numbers))

    def finish(self) -> int:
        """Puts everything on the disk; how many texts there are."""
        for name, values, kind in (
            ("lines.bin", self.lines, "<i8"),
            ("label_ends.bin", self.ends, "<i8"),
            ("labels.bin", self.numbers, "<i4"),
        ):
            np.array(values, kind).tofile(self.folder / name)
        self.text.finish()
        return self.text.meta.documents


def _numbers(path: Path, kind: str) -> np.ndarray:
    try:
        return np.fromfile(path, kind)
    except FileNotFoundError:
        return np.empty(0, kind)
