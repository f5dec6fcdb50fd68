"""Shards of sounds as frames: their numbers on disk, memory-mapped, and what belongs to each beside them.

series.json             what the frames are like (series_form.py), beside the parts
train/frames.bin        float32, (N, D): the frames of all recordings, one after the other
train/frame_ends.bin    int64: where those of each recording end
train/                  of speech the texts: ids, documents.bin, meta.json, lines.bin (row_shards.py)
                        of keywords the labels: labels.bin, label_ends.bin (label_shards.py), and texts without symbols
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.data.label_shards import LabelShards
from foresay.data.row_batches import padded
from foresay.data.row_shards import RowShards, documents, lengths, numbers
from foresay.data.series_form import SeriesForm
from foresay.errors import UserError

FRAMES, ENDS = "frames.bin", "frame_ends.bin"


class Framed:
    """The frames of one part: `sizes`, `frames_of`; mixed into shards of what belongs to them."""

    folder: Path

    def open_frames(self, documents: int) -> None:
        self.form = SeriesForm.read(self.folder.parent)
        self.frame_ends = numbers(self.folder / ENDS, "<i8")
        steps, path = int(self.frame_ends[-1]) if len(self.frame_ends) else 0, self.folder / FRAMES
        if len(self.frame_ends) != documents or path.stat().st_size != 4 * steps * self.form.width:
            raise UserError(f"{self.folder} is damaged; delete {self.folder.parent} and prepare again")
        self.frames = np.memmap(path, "<f4", "r", shape=(steps, self.form.width)).view(np.ndarray)

    def __len__(self) -> int:
        """How many frames."""
        return len(self.frames)

    @property
    def frame_sizes(self) -> np.ndarray:
        """The frames of each recording."""
        return np.diff(self.frame_ends, prepend=0)

    def frames_of(self, rows: np.ndarray, width: int) -> tuple[Tensor, Tensor | None]:
        """Some recordings, each cut to a width or padded on the right: (B, width, D), and which frames are real."""
        begins = self.frame_ends[rows] - self.frame_sizes[rows]
        return stacked(
            [
                self.frames[begin : min(end, begin + width)]
                for begin, end in zip(begins, self.frame_ends[rows], strict=True)
            ],
            width,
        )


def stacked(rows: Sequence[np.ndarray], width: int) -> tuple[Tensor, Tensor | None]:
    """Frames (T, D) as one (B, width, D), zeros on the right, and which are real; None where all are."""
    found = np.zeros((len(rows), width, rows[0].shape[1]), np.float32)
    for place, row in enumerate(rows):
        found[place, : len(row)] = row
    mask = np.arange(width) < np.array([len(row) for row in rows])[:, None]
    return torch.from_numpy(found), None if mask.all() else torch.from_numpy(mask)


class SpeechShards(Framed, RowShards):
    """Recordings and their texts."""

    def __init__(self, folder: Path):
        RowShards.__init__(self, folder)
        self.open_frames(self.documents)

    @property
    def symbols(self) -> np.ndarray:
        """The symbols of each text."""
        return lengths(self) - 1

    def texts_of(self, rows: np.ndarray) -> list[np.ndarray]:
        """The ids of some texts."""
        return [row[:-1] for row in documents(self, rows)]

    def batch(self, rows: np.ndarray, width: int) -> Batch:
        """Some recordings with their texts."""
        frames, mask = self.frames_of(rows, width)
        texts = self.texts_of(rows)
        return Batch(frames=frames, mask=mask, targets=padded(texts, max(map(len, texts)))[0])


class KeywordShards(Framed, LabelShards):
    """Recordings and their labels."""

    differ = "recordings and labels"

    def __init__(self, folder: Path):
        LabelShards.__init__(self, folder)
        self.open_frames(self.documents)

    @property
    def sizes(self) -> np.ndarray:
        return self.frame_sizes

    def batch(self, rows: np.ndarray, width: int) -> Batch:
        frames, mask = self.frames_of(rows, width)
        return Batch(frames=frames, mask=mask, labels=torch.from_numpy(self.labels_of(rows)))


class FrameWriter:
    """Writes the frames of one part into a folder that is there."""

    def __init__(self, folder: Path):
        self.folder, self.ends = folder, [0]
        self.file = (folder / FRAMES).open("wb")

    def add(self, frames: np.ndarray) -> None:
        self.file.write(frames.astype("<f4").tobytes())
        self.ends.append(self.ends[-1] + len(frames))

    def finish(self) -> None:
        """Puts everything on the disk."""
        self.close()
        np.array(self.ends[1:], "<i8").tofile(self.folder / ENDS)

    def close(self) -> None:
        self.file.close()
