"""Streams: the corpus as contiguous rows, each batch going on where the one before stopped.

    rows = 2, chunk = 3, tokens 0..13:   batch 0: 0 1 2 | 7 8 9    batch 1: 3 4 5 | 10 11 12

With `forget` each row of each batch begins anew with that probability. A run shorter than one pass over its text would
otherwise never see a fresh state after its first step, and go astray where every text that is scored begins.

For truncated back-propagation through time: the state is carried from batch to batch (`fresh` is False) and dropped
at the first batch of an epoch. From the second epoch on all rows begin at a seeded offset, in a ring, so that chunks
are cut at other places and what the first epoch left over is seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch

from foresay.data.batch import Batch
from foresay.data.batches import Batches, check_enough, epoch_random, joined, shifted
from foresay.data.shards import Shards
from foresay.parts import Count, Share, Size, part


@part("batches", "streams")
class Streams(Batches):
    """Contiguous rows with carried state, for truncated back-propagation through time."""

    carries = True

    def __init__(self, rows: Size = 32, chunk: Size = 64, reset: bool = False, forget: Share = 0.0, workers: Count = 0):
        self.rows, self.chunk, self.reset, self.forget, self.workers = rows, chunk, reset, forget, workers

    def open(self, shards: Shards, seed: int) -> StreamOrder:
        check_enough(shards)
        rows, chunk = self._fit(shards)
        return StreamOrder(shards, seed, rows, chunk, self.reset, self.forget)

    def evaluation(self, shards: Shards) -> Iterator[Batch]:
        check_enough(shards)
        total = len(shards)
        rows, chunk = self._fit(shards)
        length = -(-total // rows)
        ends = [(start, min(start + length, total)) for start in range(0, total, length)]
        for at in range(0, length, chunk):
            spans = [(min(start + at, stop), min(start + at + chunk, stop)) for start, stop in ends]
            width = max(stop - start for start, stop in spans)
            rows_now = [shifted(shards, start, stop - start) for start, stop in spans]
            yield joined(rows_now, width, fresh=at == 0, starts=self.reset)

    def _fit(self, shards: Shards) -> tuple[int, int]:
        """Fewer rows, or one short row, when the corpus is small."""
        return max(min(self.rows, len(shards) // self.chunk), 1), min(self.chunk, len(shards))


@dataclass(frozen=True)
class StreamOrder:
    """The training order of streams."""

    shards: Shards
    seed: int
    rows: int
    chunk: int
    reset: bool
    forget: float = 0.0

    @property
    def per_epoch(self) -> int:
        return len(self.shards) // self.rows // self.chunk

    def batch(self, step: int) -> Batch:
        epoch, number = divmod(step, self.per_epoch)
        total = len(self.shards)
        offset = int(epoch_random(self.seed, epoch).integers(total)) if epoch else 0
        at = offset + number * self.chunk
        length = total // self.rows
        rows = [shifted(self.shards, at + row * length, self.chunk) for row in range(self.rows)]
        batch = joined(rows, self.chunk, fresh=number == 0, starts=self.reset)
        return self._forgetful(batch, step) if self.forget else batch

    def _forgetful(self, batch: Batch, step: int) -> Batch:
        """Some rows begin anew; which ones depends on the seed and the step."""
        chosen = torch.from_numpy(np.random.default_rng([self.seed, step, 1]).random(self.rows) < self.forget)
        starts = torch.zeros(self.rows, self.chunk, dtype=torch.bool) if batch.starts is None else batch.starts
        starts[:, 0] |= chosen
        return replace(batch, starts=starts)
