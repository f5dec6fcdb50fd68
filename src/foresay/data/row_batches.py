"""Batches of rows with an answer: rows of like length together, a budget of tokens per batch.

A row has one length or several, as pairs have. Lengths are rounded up to a multiple of `width`, but not above the
longest; rows of the same rounded lengths make batches (shuffled.py).
Rows with a length above `longest` are left out of training, and of no evaluation but that of what was learnt from. The
kinds differ in what a row holds: which lengths it has (`sizes`) and how a batch is made of some (`batch_of`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.data.batches import Batches
from foresay.data.buckets import grouped
from foresay.data.row_shards import RowShards
from foresay.data.shards import Shards
from foresay.data.shuffled import Shuffled
from foresay.errors import UserError
from foresay.text.tokens import PAD

Kind = TypeVar("Kind", bound=RowShards)


class RowBatches(Batches):
    """One row of the data a row of the batch."""

    noun, unit = "rows", "tokens"
    without_long = False  # True: an evaluation leaves out what training leaves out

    def __init__(self, tokens: int, longest: int, width: int, workers: int):
        self.tokens, self.width, self.workers = tokens, width, workers
        self.longest = self.most = longest

    def own(self, shards: Shards) -> Any:
        """The shards, if they are of this kind."""
        raise AssertionError

    def sizes(self, shards: Any) -> np.ndarray:
        """The lengths of each row, (N, 1) or more columns."""
        raise AssertionError

    def batch_of(self, shards: Any, rows: np.ndarray, widths: Sequence[int]) -> Batch:
        """Some rows, padded on the right to the widths of their lengths."""
        raise AssertionError

    def open(self, shards: Shards, seed: int) -> RowOrder:
        return RowOrder(self.own(shards), seed, self)

    def evaluation(self, shards: Shards) -> Iterator[Batch]:
        own = self.own(shards)
        sizes = self.sizes(own)
        kept = self.within(sizes) if self.without_long else np.arange(len(sizes))
        for some in grouped(sizes[kept].max(1), self.tokens):
            rows = kept[some]
            yield self.batch_of(own, rows, sizes[rows].max(0).tolist())

    def within(self, sizes: np.ndarray) -> np.ndarray:
        """The rows that training reads."""
        return np.flatnonzero((sizes <= self.most).all(1))

    def as_learnt(self) -> Batches:
        own = copy(self)
        own.without_long = True
        return own

    def in_rows(self, rows: int, *, reset: bool = False) -> Batches:
        raise UserError(f"rows={rows}, but {self.noun} are read one a row; leave it out")


class RowOrder:
    """The training order: rows shuffled within their bucket, then the batches shuffled."""

    def __init__(self, shards: RowShards, seed: int, settings: RowBatches):
        self.shards, self.settings, sizes = shards, settings, settings.sizes(shards)
        self.kept = settings.within(sizes)
        if not len(self.kept):
            raise UserError(
                f"train.batches.longest={settings.most} leaves none of {len(sizes)} {settings.noun}; the shortest has "
                f"{sizes.max(1).min()} {settings.unit}: raise it"
            )
        kept = sizes[self.kept]
        rounded = np.minimum(-(-kept // settings.width) * settings.width, np.maximum(kept.max(0), 1))
        self.shuffled = Shuffled(rounded, settings.tokens, seed)

    @property
    def per_epoch(self) -> int:
        return self.shuffled.per_epoch

    @property
    def left_out(self) -> int:
        """Rows that are too long."""
        return self.shards.documents - len(self.kept)

    def batch(self, step: int) -> Batch:
        drawn = self.shuffled.draw(step)
        batch = self.settings.batch_of(self.shards, self.kept[drawn.rows], drawn.widths)
        return replace(batch, alike=drawn.alike)


def held(shards: Shards, kind: type[Kind], reads: str, needs: str) -> Kind:
    """The shards, if they are of a kind."""
    if not isinstance(shards, kind):
        raise UserError(f"train.batches={reads} needs {needs}; allowed: data.kind={reads}")
    return shards


def padded(rows: Sequence[np.ndarray], width: int) -> tuple[Tensor, Tensor | None]:
    """Rows of ids (B, width) with PAD on the right, and which are real; None where all are."""
    ids = np.full((len(rows), width), PAD, dtype=np.int64)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
    sizes = np.array([len(row) for row in rows])
    mask = np.arange(width) < sizes[:, None]
    return torch.from_numpy(ids), None if mask.all() else torch.from_numpy(mask)
