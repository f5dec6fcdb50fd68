"""Packed windows: the flat stream cut into windows of one length, in a seeded order, no padding.

For Transformers: `starts` marks where a document begins inside a window, so that attention stays within documents;
it is None when none does, and with `across`, where what came before a document helps, as of the lines of one text. From
the second epoch on the windows begin at a seeded offset, in a ring.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from foresay.data.batch import Batch
from foresay.data.batches import Batches, check_enough, epoch_random, spans
from foresay.data.shards import Shards
from foresay.parts import Count, Size, part


@part("batches", "packed")
class Packed(Batches):
    """Shuffled windows of the stream with document marks, for Transformers."""

    repeats = True

    def __init__(self, rows: Size = 16, length: Size = 256, across: bool = False, workers: Count = 0):
        self.across = across
        self.rows, self.length, self.longest, self.workers = rows, length, length, workers

    def open(self, shards: Shards, seed: int) -> PackedOrder:
        check_enough(shards)
        return PackedOrder(shards, seed, self.rows, self.length, self.across)

    def evaluation(self, shards: Shards) -> Iterator[Batch]:
        check_enough(shards)
        total = len(shards)
        for first in range(0, total, self.rows * self.length):
            windows = range(first, min(first + self.rows * self.length, total), self.length)
            where = [(start, min(self.length, total - start)) for start in windows]
            yield _marked(spans(shards, where, max(count for _, count in where), fresh=True, starts=not self.across))


class PackedOrder:
    """The training order of packed windows; windows left over after the last full batch wait for another epoch."""

    def __init__(self, shards: Shards, seed: int, rows: int, length: int, across: bool = False):
        self.shards, self.seed, self.across = shards, seed, across
        self.length = min(length, len(shards))
        self.windows = len(shards) // self.length
        self.rows = min(rows, self.windows)
        self.order = functools.lru_cache(maxsize=2)(self._order)

    @property
    def per_epoch(self) -> int:
        return self.windows // self.rows

    def batch(self, step: int) -> Batch:
        epoch, number = divmod(step, self.per_epoch)
        offset, order = self.order(epoch)
        windows = order[number * self.rows : (number + 1) * self.rows]
        where = [(offset + int(window) * self.length, self.length) for window in windows]
        return _marked(spans(self.shards, where, self.length, fresh=True, starts=not self.across))

    def _order(self, epoch: int) -> tuple[int, np.ndarray]:
        random = epoch_random(self.seed, epoch)
        offset = int(random.integers(len(self.shards))) if epoch else 0
        return offset, random.permutation(self.windows)


def _marked(batch: Batch) -> Batch:
    """Without `starts` when no document begins inside a window: every row is fresh at its first position anyway."""
    if batch.starts is None or bool(batch.starts[:, 1:].any()):
        return batch
    return replace(batch, starts=None)
