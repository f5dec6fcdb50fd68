"""Batches of texts with labels: one text a row, texts of like length together, a budget of tokens per batch.

    ids  t1 t2 t3          labels  the number of its label, or 0 and 1 for each of several

Neither START nor STOP is among the ids. Of a text longer than `longest` the first so many tokens are read, in training
and after. Lengths are rounded up to a multiple of `width`; a bucket holds one rounded length n, and a batch of it has
tokens // n rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from foresay.data.batch import Batch
from foresay.data.batches import Batches
from foresay.data.buckets import Shuffled
from foresay.data.label_shards import LabelShards
from foresay.data.pair_batches import padded
from foresay.data.pair_shards import lengths
from foresay.data.shards import Shards
from foresay.errors import UserError
from foresay.parts import Count, Size, part


@part("batches", "labels")
class LabelBatches(Batches):
    """One text with its label a row, texts of like length together, a budget of tokens per batch."""

    reads = "labels"

    def __init__(self, tokens: Size = 4096, longest: Size = 512, width: Size = 8, workers: Count = 0):
        self.tokens, self.width, self.workers = tokens, width, workers
        self.longest = self.most = longest

    def open(self, shards: Shards, seed: int) -> LabelOrder:
        return LabelOrder(labelled(shards), seed, self)

    def evaluation(self, shards: Shards) -> Iterator[Batch]:
        texts = labelled(shards)
        sizes = self.cut(texts)
        first = 0
        while first < len(sizes):
            last, widest = first, 0
            while last < len(sizes):
                wider = max(widest, int(sizes[last]))
                if last > first and wider * (last - first + 1) > self.tokens:
                    break
                last, widest = last + 1, wider
            yield batch_of(texts, np.arange(first, last), widest)
            first = last

    def cut(self, shards: LabelShards) -> np.ndarray:
        """How many tokens of each text are read."""
        return np.minimum(lengths(shards) - 1, self.most)  # without its STOP

    def too_long(self, shards: LabelShards) -> int:
        """How many texts are not read to their end."""
        return int((lengths(shards) - 1 > self.most).sum())


class LabelOrder:
    """The training order: texts shuffled within their bucket, then the batches shuffled."""

    def __init__(self, shards: LabelShards, seed: int, settings: LabelBatches):
        self.shards = shards
        sizes = settings.cut(shards)
        rounded = np.minimum(-(-sizes // settings.width) * settings.width, max(int(sizes.max()), 1))
        self.shuffled = Shuffled(rounded, seed, lambda widths: np.maximum(settings.tokens // widths, 1))

    @property
    def per_epoch(self) -> int:
        return self.shuffled.per_epoch

    def batch(self, step: int) -> Batch:
        width, rows = self.shuffled.rows(step)
        return batch_of(self.shards, rows, width)


def labelled(shards: Shards) -> LabelShards:
    """The shards, if they have labels."""
    if not isinstance(shards, LabelShards):
        raise UserError("train.batches=labels needs texts with labels; allowed: data.kind=labels")
    return shards


def batch_of(shards: LabelShards, rows: np.ndarray, width: int) -> Batch:
    """Some texts, each cut to `width` tokens or padded on the right."""
    ends = shards.ends
    begins = [int(ends[row - 1]) if row else 0 for row in rows.tolist()]
    spans = zip(begins, ends[rows].tolist(), strict=True)
    ids, mask = padded([shards.slice(begin, min(end - 1, begin + width)) for begin, end in spans], width)
    return Batch(ids=ids, mask=mask, labels=torch.from_numpy(shards.labels_of(rows)))
