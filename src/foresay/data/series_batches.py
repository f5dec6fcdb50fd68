"""Batches of series: windows of `length` steps at most, `rows` at a time.

frames   x(t-1)         the step before; NaN before the first one of a series
targets  x(t)           NaN where a number is not known, or is there for context alone
mask     real steps, where windows differ in length

Training draws as many windows of each series as cover it once, beginning anywhere, in every epoch others; of music each
is moved by up to `transpose` keys, up or down, as far as it stays on the keyboard. An evaluation predicts every step
once: a series longer than `length` in windows, each but the first with half of it as context.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from foresay.data.batch import Batch
from foresay.data.batches import Batches, epoch_random
from foresay.data.buckets import grouped
from foresay.data.series_shards import SeriesShards
from foresay.errors import UserError
from foresay.parts import Count, Size, part

Window = tuple[int, int, int, int]  # the number of a series, begin, end, and from where on its steps are predicted


@part("batches", "series")
class SeriesBatches(Batches):
    """Windows of series, so many steps of so many of them at a time."""

    reads, noun = "series", "series"

    def __init__(self, rows: Size = 32, length: Size = 128, transpose: Count = 0, workers: Count = 0):
        self.rows, self.length, self.transpose, self.workers = rows, length, transpose, workers
        self.longest = length

    def own(self, shards: object) -> SeriesShards:
        if not isinstance(shards, SeriesShards):
            raise UserError("train.batches=series needs series; allowed: data.kind=series")
        if self.transpose and shards.form.music is None:
            raise UserError(
                f"train.batches.transpose={self.transpose} moves keys of music, and this is {shards.form.told()}; "
                "leave it out"
            )
        return shards

    def open(self, shards: object, seed: int) -> SeriesOrder:  # pyright: ignore[reportIncompatibleMethodOverride]
        return SeriesOrder(self.own(shards), seed, self)

    def evaluation(self, shards: object) -> Iterator[Batch]:  # pyright: ignore[reportIncompatibleMethodOverride]
        yield from (batch for _, batch in self.placed(self.own(shards)))

    def placed(self, shards: SeriesShards) -> Iterator[tuple[list[Window], Batch]]:
        """The batches of an evaluation, with the windows in their rows."""
        windows = list(self.windows(shards))
        sizes = np.array([end - begin for _, begin, end, _ in windows])
        for some in grouped(sizes, self.rows * self.length):
            chosen = [windows[one] for one in some]
            yield chosen, batch_of(shards, chosen)

    def windows(self, shards: SeriesShards) -> Iterator[Window]:
        """Those of an evaluation, in order."""
        for number, (steps, predicted) in enumerate(
            zip(shards.lengths().tolist(), shards.begins.tolist(), strict=True)
        ):
            while predicted < steps:
                begin = 0 if steps <= self.length else max(predicted - self.length // 2, 0)
                end = min(begin + self.length, steps)
                yield number, begin, end, predicted
                predicted = end


class SeriesOrder:
    """The training order: windows drawn anew for every epoch, shuffled."""

    def __init__(self, shards: SeriesShards, seed: int, settings: SeriesBatches):
        self.shards, self.seed, self.settings = shards, seed, settings
        self.steps = shards.lengths()
        self.number = np.repeat(np.arange(len(self.steps)), -(-self.steps // settings.length))

    @property
    def per_epoch(self) -> int:
        return -(-len(self.number) // self.settings.rows)

    def batch(self, step: int) -> Batch:
        epoch, at = divmod(step, self.per_epoch)
        length, draw = self.settings.length, epoch_random(self.seed, epoch)
        chosen = draw.permutation(self.number)
        begins = draw.integers(0, np.maximum(self.steps[chosen] - length, 0) + 1)
        moves = draw.integers(-self.settings.transpose, self.settings.transpose + 1, len(chosen))
        rows = slice(at * len(chosen) // self.per_epoch, (at + 1) * len(chosen) // self.per_epoch)
        windows = [
            (number, begin, int(min(begin + length, self.steps[number])), 0)
            for number, begin in zip(chosen[rows].tolist(), begins[rows].tolist(), strict=True)
        ]
        return batch_of(self.shards, windows, moves[rows])


def batch_of(shards: SeriesShards, windows: list[Window], moves: np.ndarray | None = None) -> Batch:
    """Some windows, padded on the right to the longest; of music each moved by so many keys."""
    sizes = np.array([end - begin for _, begin, end, _ in windows])
    shape = (len(windows), int(sizes.max()), shards.form.width)
    frames, targets = np.full(shape, np.nan, np.float32), np.full(shape, np.nan, np.float32)
    for row, (number, begin, end, predicted) in enumerate(windows):
        before, own = shards.window(number, begin, end)
        if moves is not None and moves[row]:
            before, own = transposed(before, own, int(moves[row]))
        own[: max(predicted - begin, 0)] = np.nan
        frames[row, : len(before)], targets[row, : len(own)] = before, own
    mask = np.arange(shape[1]) < sizes[:, None]
    return Batch(
        frames=torch.from_numpy(frames),
        targets=torch.from_numpy(targets),
        mask=None if mask.all() else torch.from_numpy(mask),
    )


def transposed(before: np.ndarray, own: np.ndarray, by: int) -> tuple[np.ndarray, np.ndarray]:
    """Both moved by so many columns, or as far as no key that sounds leaves; what comes in is silent."""
    sounds = np.flatnonzero((np.nan_to_num(before) > 0).any(0) | (np.nan_to_num(own) > 0).any(0))
    if len(sounds):
        by = min(max(by, -int(sounds[0])), own.shape[1] - 1 - int(sounds[-1]))
    return np.roll(before, by, 1), np.roll(own, by, 1)
