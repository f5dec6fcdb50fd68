"""Buckets: one document a row, documents of like length together, a budget of tokens per batch.

A row is START + document -> document + STOP; a document longer than `longest` is cut into rows, each but the first
beginning with the token before it. Lengths are rounded up to a multiple of `width`; which rows make a batch is
shuffled.py's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from foresay.data.batch import Batch
from foresay.data.batches import Batches, check_enough, spans
from foresay.data.shards import Shards
from foresay.data.shuffled import Shuffled
from foresay.parts import Count, Size, part


@part("batches", "buckets")
class Buckets(Batches):
    """One document a row, rows of like length together, a budget of tokens per batch."""

    bucketed = True

    def __init__(self, tokens: Size = 4096, longest: Size = 512, width: Size = 8, workers: Count = 0):
        self.tokens, self.most, self.width, self.workers = tokens, longest, width, workers
        self.longest = longest

    def open(self, shards: Shards, seed: int) -> BucketOrder:
        check_enough(shards)
        return BucketOrder(shards, seed, self)

    def evaluation(self, shards: Shards) -> Iterator[Batch]:
        check_enough(shards)
        begins, lengths = row_spans(shards, self.most)
        for rows in grouped(lengths, self.tokens):
            yield _rows(shards, begins[rows], lengths[rows], int(lengths[rows].max()))

    def rounded(self, lengths: np.ndarray) -> np.ndarray:
        """Lengths up to a multiple of `width`, but not above `longest`."""
        return np.minimum(-(-lengths // self.width) * self.width, self.most)


def grouped(sizes: np.ndarray, budget: int) -> Iterator[np.ndarray]:
    """Row numbers in order, as many at a time as fit into a budget once padded to the longest; at least one."""
    first, widest = 0, 0
    for row, size in enumerate(sizes.tolist()):
        if row > first and max(widest, size) * (row - first + 1) > budget:
            yield np.arange(first, row)
            first, widest = row, 0
        widest = max(widest, size)
    if len(sizes):
        yield np.arange(first, len(sizes))


class BucketOrder:
    """The training order of buckets."""

    def __init__(self, shards: Shards, seed: int, settings: Buckets):
        self.shards = shards
        self.begins, self.lengths = row_spans(shards, settings.most)
        rounded = settings.rounded(self.lengths)
        self.shuffled = Shuffled(rounded[:, None], settings.tokens, seed)

    @property
    def per_epoch(self) -> int:
        return self.shuffled.per_epoch

    def batch(self, step: int) -> Batch:
        drawn = self.shuffled.draw(step)
        begins, lengths = self.begins[drawn.rows], self.lengths[drawn.rows]
        return replace(_rows(self.shards, begins, lengths, drawn.widths[0]), alike=drawn.alike)


def row_spans(shards: Shards, longest: int) -> tuple[np.ndarray, np.ndarray]:
    """Where each row begins in the stream and how long it is, in the order of the text."""
    ends = np.asarray(shards.ends)
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
    sizes = ends - starts
    pieces = -(-sizes // longest)
    document = np.repeat(np.arange(len(ends)), pieces)
    number = np.arange(len(document)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    begins = starts[document] + number * longest
    return begins, np.minimum(longest, ends[document] - begins)


def _rows(shards: Shards, begins: np.ndarray, lengths: np.ndarray, width: int) -> Batch:
    return spans(shards, list(zip(begins.tolist(), lengths.tolist(), strict=True)), width, fresh=True)
