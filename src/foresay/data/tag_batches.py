"""Batches of tagged sentences: one a row, sentences of like length together, a budget of words per batch.

    ids  w1 w2 w3        targets  t1 t2 t3         nothing is shifted, and nothing marks the ends

Lengths are rounded up to a multiple of `width`, but not above the longest; a bucket holds one rounded length n, and a
batch of it has tokens // n rows. Sentences with more words than `longest` are left out of training, never of an
evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from foresay.data.batch import Batch
from foresay.data.batches import Batches
from foresay.data.buckets import Shuffled
from foresay.data.pair_batches import padded
from foresay.data.shards import Shards
from foresay.data.tag_shards import TagShards
from foresay.errors import UserError
from foresay.parts import Count, Size, part


@part("batches", "tags")
class TagBatches(Batches):
    """One tagged sentence a row, sentences of like length together, a budget of words per batch."""

    reads = "tags"

    def __init__(self, tokens: Size = 2048, longest: Size = 256, width: Size = 8, workers: Count = 0):
        self.tokens, self.width, self.workers = tokens, width, workers
        self.longest = self.most = longest

    def open(self, shards: Shards, seed: int) -> TagOrder:
        return TagOrder(tagged(shards), seed, self)

    def evaluation(self, shards: Shards) -> Iterator[Batch]:
        own = tagged(shards)
        sizes, first = own.sizes, 0
        while first < len(sizes):
            last, widest = first, 0
            while last < len(sizes):
                wider = max(widest, int(sizes[last]))
                if last > first and wider * (last - first + 1) > self.tokens:
                    break
                last, widest = last + 1, wider
            yield batch_of(own, np.arange(first, last), widest)
            first = last


class TagOrder:
    """The training order: sentences shuffled within their bucket, then the batches shuffled."""

    def __init__(self, shards: TagShards, seed: int, settings: TagBatches):
        self.shards, sizes = shards, shards.sizes
        self.kept = np.flatnonzero(sizes <= settings.most)
        if not len(self.kept):
            raise UserError(
                f"train.batches.longest={settings.most} leaves none of {len(sizes)} sentences; the shortest has "
                f"{sizes.min()} words: raise it"
            )
        kept = sizes[self.kept]
        rounded = np.minimum(-(-kept // settings.width) * settings.width, kept.max())
        self.shuffled = Shuffled(rounded, seed, lambda widths: np.maximum(settings.tokens // widths, 1))

    @property
    def per_epoch(self) -> int:
        return self.shuffled.per_epoch

    @property
    def left_out(self) -> int:
        """Sentences that are too long."""
        return self.shards.documents - len(self.kept)

    def batch(self, step: int) -> Batch:
        width, rows = self.shuffled.rows(step)
        return batch_of(self.shards, self.kept[rows], width)


def tagged(shards: Shards) -> TagShards:
    """The shards, if they have tags."""
    if not isinstance(shards, TagShards):
        raise UserError("train.batches=tags needs words with tags; allowed: data.kind=tags")
    return shards


def batch_of(shards: TagShards, rows: np.ndarray, width: int) -> Batch:
    """Some sentences, padded on the right to a width."""
    words, tags = zip(*(shards.sentence(row) for row in rows.tolist()), strict=True)
    ids, mask = padded(list(words), width)
    batch = Batch(ids=ids, targets=padded(list(tags), width)[0], mask=mask)
    return shards.strange.told(batch, [int(shards.ends[row - 1]) if row else 0 for row in rows.tolist()])
