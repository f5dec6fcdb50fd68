"""Rows of like length together: which rows make which batch, in an order drawn anew for every epoch.

A bucket holds rows of the same widths (one, or one for each side of a pair), and a full batch of it has
tokens // (its largest width) rows. Rows that would not fill half a batch join the bucket where that costs the least
padding, unless it costs more than a batch; the rows of a bucket are then shared out evenly among as few batches as hold
them. So nearly every batch is at least half full: one of a single row would cost a step as others do, and its noise
would count as much. Every epoch has the same number of batches, of the same shapes.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from foresay.data.batches import epoch_random


@dataclass(frozen=True)
class Drawn:
    """The rows of a batch, the widths of its bucket, and how many batches of an epoch have its shape."""

    rows: np.ndarray
    widths: list[int]
    alike: int


class Shuffled:
    """Rows (N) by their widths (N, C): shuffled within their bucket, then the batches shuffled, in every epoch."""

    def __init__(self, widths: np.ndarray, tokens: int, seed: int):
        self.seed = seed
        own, bucket = distinct_rows(widths)
        self.widths, into = join_small(own, np.bincount(bucket, minlength=len(own)), tokens)
        bucket = into[bucket]
        self.members = np.argsort(bucket, kind="stable")  # row numbers, bucket after bucket
        self.counts = np.bincount(bucket, minlength=len(self.widths))
        self.begins = np.cumsum(self.counts) - self.counts
        self.batches = -(-self.counts // rows_within(self.widths, tokens))
        self.batch_ends = np.cumsum(self.batches)
        self.order = functools.lru_cache(maxsize=2)(self._order)

    @property
    def per_epoch(self) -> int:
        return int(self.batch_ends[-1])

    def draw(self, step: int) -> Drawn:
        """Batch number `step`, counted through all epochs."""
        epoch, number = divmod(step, self.per_epoch)
        batches, members = self.order(epoch)
        chosen = int(batches[number])
        bucket = int(np.searchsorted(self.batch_ends, chosen, side="right"))
        count, parts = int(self.counts[bucket]), int(self.batches[bucket])
        within = chosen - int(self.batch_ends[bucket]) + parts
        first, last = within * count // parts, (within + 1) * count // parts
        fuller = count % parts  # batches with one row more than the others
        alike = fuller if last - first > count // parts else parts - fuller
        begin = int(self.begins[bucket])
        return Drawn(members[begin + first : begin + last], self.widths[bucket].tolist(), alike)

    def _order(self, epoch: int) -> tuple[np.ndarray, np.ndarray]:
        random = epoch_random(self.seed, epoch)
        batches = random.permutation(self.per_epoch)
        members = self.members.copy()
        for begin, count in zip(self.begins, self.counts, strict=True):
            random.shuffle(members[begin : begin + count])
        return batches, members


def distinct_rows(widths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows of a table (N, C) of small numbers, in order, and which of them each row is (N)."""
    powers = (int(widths.max(initial=0)) + 1) ** np.arange(widths.shape[1])[::-1]
    _, first, which = np.unique(widths @ powers, return_index=True, return_inverse=True)
    return widths[first], which


def rows_within(widths: np.ndarray, tokens: int) -> np.ndarray:
    """How many rows of each bucket a batch holds (padding counts); at least one."""
    return np.maximum(tokens // np.maximum(widths.max(1), 1), 1)


def join_small(widths: np.ndarray, counts: np.ndarray, tokens: int) -> tuple[np.ndarray, np.ndarray]:
    """Buckets (U, C) with their numbers of rows -> those that are left (at most U), and where each has gone (U)."""
    widths, counts, into = widths.copy(), counts.copy(), np.arange(len(widths))
    alone = np.zeros(len(widths), dtype=bool)  # too far from all others
    while True:
        small = np.flatnonzero((counts > 0) & ~alone & (2 * counts < rows_within(widths, tokens)))
        others = counts > 0
        if not len(small) or others.sum() < 2:
            break
        one = int(small[np.argmin(counts[small])])
        others[one] = False
        both = np.maximum(widths, widths[one])
        padding = ((both - widths) * counts[:, None] + (both - widths[one]) * counts[one]).sum(1)
        best = int(np.flatnonzero(others)[np.argmin(padding[others])])
        if padding[best] > tokens:
            alone[one] = True
            continue
        widths[best], counts[best], counts[one] = both[best], counts[best] + counts[one], 0
        into[into == one] = best
    left = np.flatnonzero(counts > 0)
    return widths[left], np.searchsorted(left, into)
