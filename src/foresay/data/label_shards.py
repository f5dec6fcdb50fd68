"""Shards of texts with labels: the texts as any has them, and their labels beside them.

labels.json           the labels in the order of their numbers, and how often each stands in train
train/                ids, documents.bin, meta.json, and lines.bin as row_shards.py has it
train/labels.bin      int32: the labels' numbers, text after text
train/label_ends.bin  int64: where those of each text end
train/strange.*       the words that the vocabulary does not know, as they are spelt (strange.py)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import torch

from foresay.data.batch import Batch
from foresay.data.row_batches import padded
from foresay.data.row_shards import RowShards, RowWriter, documents, lengths, numbers
from foresay.data.strange import Strange
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


class LabelShards(RowShards):
    """Texts with their labels."""

    differ = "texts and labels"

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.labels = LabelSet.read(folder.parent)
        self.numbers, self.label_ends = numbers(folder / "labels.bin", "<i4"), numbers(folder / "label_ends.bin", "<i8")
        last = int(self.label_ends[-1]) if len(self.label_ends) else 0
        self.check(len(self.label_ends) == self.documents and last == len(self.numbers))
        self.strange = Strange(folder, self.vocabulary)

    def labels_of(self, rows: np.ndarray) -> np.ndarray:
        """The number of each text's label, (B,); where there are several, which ones it has, (B, C) of 0 and 1."""
        if not self.labels.several:
            return self.numbers[rows].astype(np.int64)
        found = np.zeros((len(rows), len(self.labels.names)), np.float32)
        for place, row in enumerate(rows.tolist()):
            found[place, self.numbers[self.label_ends[row - 1] if row else 0 : self.label_ends[row]]] = 1.0
        return found

    @property
    def sizes(self) -> np.ndarray:
        """The tokens of each text."""
        return lengths(self) - 1  # without its STOP

    def batch(self, rows: np.ndarray, width: int) -> Batch:
        """Some texts with their labels, each cut to a width or padded on the right."""
        ids, mask = padded([row[:-1][:width] for row in documents(self, rows)], width)
        batch = Batch(ids=ids, mask=mask, labels=torch.from_numpy(self.labels_of(rows)))
        return self.strange.told(batch, [int(self.ends[row - 1]) if row else 0 for row in rows.tolist()])

    def given(self, where: Sequence[tuple[int, int]], width: int) -> np.ndarray | None:
        """The label of the text that each token is of; where texts have several, nothing is told."""
        if self.labels.several:
            return None
        found = np.zeros((len(where), width), np.int64)
        ends = np.asarray(self.ends)
        for row, (start, count) in enumerate(where):
            places = np.arange(start, start + count) % len(self)
            found[row, :count] = self.numbers[np.searchsorted(ends, places, side="right")]
        return found


class LabelWriter(RowWriter):
    """Writes the texts of one part into a folder; `numbers` are to be given the numbers of each one's labels."""

    def __init__(self, folder: Path, vocabulary: int):
        super().__init__(folder, vocabulary)
        self.numbers: list[list[int]] = []

    def finish(self) -> int:
        """Puts everything on the disk; how many texts there are."""
        ends = np.cumsum([len(each) for each in self.numbers])
        for name, values, kind in (
            ("label_ends.bin", ends, "<i8"),
            ("labels.bin", list(chain.from_iterable(self.numbers)), "<i4"),
        ):
            np.array(values, kind).tofile(self.folder / name)
        return super().finish()
