"""Batches of pictures: a whole one a row, `rows` at a time, in an order drawn anew for every epoch.

targets  p1 p2 .. pn            the levels of the picture, n of them always: no STOP is predicted
ids      START p1 .. p(n-1)     the level before each
given    the number of its label
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy

import numpy as np
import torch

from foresay.data.batch import Batch
from foresay.data.buckets import grouped
from foresay.data.levels import LevelShards
from foresay.data.row_batches import RowBatches, RowOrder, held
from foresay.data.row_shards import documents, lengths
from foresay.data.shards import Shards
from foresay.parts import Count, Size, part
from foresay.text.tokens import START


@part("batches", "images")
class ImageBatches(RowBatches):
    """Whole pictures, so many at a time."""

    reads, noun, unit = "images", "images", "levels"
    bucketed = True

    def __init__(self, rows: Size = 32, workers: Count = 0):
        super().__init__(0, 0, 1, workers)
        self.rows, self.longest = rows, None

    def own(self, shards: Shards) -> LevelShards:
        return held(shards, LevelShards, "images", "images")

    def sizes(self, shards: LevelShards) -> np.ndarray:
        return lengths(shards)[:, None] - 1  # without its STOP

    def open(self, shards: Shards, seed: int) -> RowOrder:
        sized, size = copy(self), self.own(shards).form.size
        sized.tokens, sized.most = self.rows * size, size
        return RowOrder(sized.own(shards), seed, sized)

    def evaluation(self, shards: Shards) -> Iterator[Batch]:
        own = self.own(shards)
        sizes = self.sizes(own)
        for rows in grouped(sizes[:, 0], self.rows * own.form.size):
            yield self.batch_of(own, rows, [own.form.size])

    def predicted(self, shards: Shards) -> int:
        return len(shards) - shards.documents

    def batch_of(self, shards: LevelShards, rows: np.ndarray, widths: Sequence[int]) -> Batch:
        """Some pictures; all have one size."""
        levels = np.stack(documents(shards, rows))[:, :-1]
        ids = np.concatenate([np.full((len(rows), 1), START, levels.dtype), levels[:, :-1]], 1)
        given = None if shards.unlabelled else torch.from_numpy(shards.labels_of(rows))
        return Batch(ids=torch.from_numpy(ids), targets=torch.from_numpy(levels), given=given)
