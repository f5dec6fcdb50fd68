"""Streams: the corpus as contiguous rows, each batch going on where the one before stopped.

    rows = 2, chunk = 3, tokens 0..13:   batch 0: 0 1 2 | 7 8 9    batch 1: 3 4 5 | 10 11 12

With `forget` each row of each batch begins anew with that probability. A run shorter than one pass over its text would
otherwise never see a fresh state after its first step, and go astray where every text that is scored begins.

For truncated back-propagation through time: the state is carried from batch to batch (`fresh` is False) and dropped
at the first batch of an epoch. From the second epoch on all rows begin at a seeded offset, in a ring, so that chunks
are cut at other places and what the first epoch left over is seen.

With `half` and `jitter` chunks are of several lengths (Merity et al. 2017), few enough to prepare for each:

    half   of the chunks          chunk / 2
    the others                    chunk + k jitter,  k = -2 .. 2,  in proportion to exp(-k^2 / 2)

Every epoch has the same number of each, in an order of its own. A batch's `pace`, its length / chunk, is what the
learning rate is multiplied with: a short chunk's mean gradient would otherwise weigh as much as a long one's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import torch

from foresay.data.batch import Batch
from foresay.data.batches import Batches, check_enough, epoch_random, spans
from foresay.data.shards import Shards
from foresay.errors import UserError
from foresay.parts import Count, Share, Size, part


@part("batches", "streams")
class Streams(Batches):
    """Contiguous rows with carried state, for truncated back-propagation through time."""

    carries = True

    def __init__(
        self,
        rows: Size = 32,
        chunk: Size = 64,
        half: Share = 0.0,
        jitter: Count = 0,
        reset: bool = False,
        forget: Share = 0.0,
        workers: Count = 0,
    ):
        if chunk <= 2 * jitter or (half and chunk < 2):
            raise UserError(f"chunk={chunk}, half={half:g}, jitter={jitter}; allowed: chunk > 2 jitter: raise chunk")
        self.rows, self.chunk, self.half, self.jitter = rows, chunk, half, jitter
        self.reset, self.forget, self.workers = reset, forget, workers

    @property
    def repeats(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return not self.reset and not self.forget

    def open(self, shards: Shards, seed: int) -> StreamOrder:
        check_enough(shards)
        rows, chunk = self._fit(shards)
        return StreamOrder(shards, seed, rows, chunk, self.half, self.jitter, self.reset, self.forget)

    def evaluation(self, shards: Shards) -> Iterator[Batch]:
        check_enough(shards)
        total = len(shards)
        rows, chunk = self._fit(shards)
        length = -(-total // rows)
        ends = [(start, min(start + length, total)) for start in range(0, total, length)]
        for at in range(0, length, chunk):
            begins = [min(start + at, stop) for start, stop in ends]
            where = [(begin, min(begin + chunk, stop) - begin) for begin, (_, stop) in zip(begins, ends, strict=True)]
            width = max(count for _, count in where)
            yield spans(shards, where, width, fresh=at == 0, starts=self.reset)

    def in_rows(self, rows: int, *, reset: bool = False) -> Streams:
        """As many tokens at a time, in so many rows; with `reset` every document begins from a fresh state."""
        return Streams(rows, max(self.rows * self.chunk // rows, 1), reset=self.reset or reset)

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
    half: float = 0.0
    jitter: int = 0
    reset: bool = False
    forget: float = 0.0

    @property
    def per_epoch(self) -> int:
        return len(self._cuts(0)) - 1

    def batch(self, step: int) -> Batch:
        epoch, number = divmod(step, self.per_epoch)
        total = len(self.shards)
        offset = int(epoch_random(self.seed, epoch).integers(total)) if epoch else 0
        begin, end = self._cuts(epoch)[number : number + 2]
        width, length = end - begin, total // self.rows
        where = [(offset + begin + row * length, width) for row in range(self.rows)]
        batch = spans(self.shards, where, width, fresh=number == 0, starts=self.reset)
        batch = replace(batch, pace=width / self.chunk)
        return self._forgetful(batch, step) if self.forget else batch

    def _cuts(self, epoch: int) -> list[int]:
        """Where the chunks of an epoch begin in each row, and where the last one ends."""
        return _cuts(len(self.shards) // self.rows, self.chunk, self.half, self.jitter, self.seed, epoch)

    def _forgetful(self, batch: Batch, step: int) -> Batch:
        """Some rows begin anew; which ones depends on the seed and the step."""
        assert batch.ids is not None
        chosen = torch.from_numpy(np.random.default_rng([self.seed, step, 1]).random(self.rows) < self.forget)
        starts = torch.zeros(batch.ids.shape, dtype=torch.bool) if batch.starts is None else batch.starts
        starts[:, 0] |= chosen
        return replace(batch, starts=starts)


@lru_cache(maxsize=4)
def _cuts(length: int, chunk: int, half: float, jitter: int, seed: int, epoch: int) -> list[int]:
    lengths = np.array(chunk_lengths(length, chunk, half, jitter))
    np.random.default_rng([seed, epoch, 2]).shuffle(lengths)
    return [0, *np.cumsum(lengths).tolist()]


def chunk_lengths(length: int, chunk: int, half: float, jitter: int) -> list[int]:
    """The lengths of the chunks that a row of `length` is cut into, in order of size; what is left over is short."""
    shares = [(chunk // 2, half)] if half else []
    steps = range(-2, 3) if jitter else range(1)
    weights = [math.exp(-k * k / 2) for k in steps]
    shares += [(chunk + k * jitter, (1 - half) * w / sum(weights)) for k, w in zip(steps, weights, strict=True)]
    count = int(length / sum(size * share for size, share in shares)) + 1
    while True:  # as many as fit
        bounds = np.rint(count * np.cumsum([0.0, *(share for _, share in shares)])).astype(int)
        lengths = [size for (size, _), number in zip(shares, np.diff(bounds), strict=True) for _ in range(number)]
        if sum(lengths) <= length:
            return lengths or [min(chunk, length)]
        count -= 1
