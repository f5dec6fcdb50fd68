"""Batches of tagged sentences: one a row, as row_batches.py puts them together.

ids  w1 w2 w3        targets  t1 t2 t3         nothing is shifted, and nothing marks the ends
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from foresay.data.batch import Batch
from foresay.data.row_batches import RowBatches, held, padded
from foresay.data.shards import Shards
from foresay.data.tag_shards import TagShards
from foresay.parts import Count, Size, part


@part("batches", "tags")
class TagBatches(RowBatches):
    """One tagged sentence a row, sentences of like length together, a budget of words per batch."""

    reads = "tags"
    noun, unit = "sentences", "words"
    bucketed = True

    def __init__(self, tokens: Size = 2048, longest: Size = 256, width: Size = 8, workers: Count = 0):
        super().__init__(tokens, longest, width, workers)

    def own(self, shards: Shards) -> TagShards:
        return tagged(shards)

    def sizes(self, shards: TagShards) -> np.ndarray:
        return shards.sizes[:, None]

    def batch_of(self, shards: TagShards, rows: np.ndarray, widths: Sequence[int]) -> Batch:
        words, tags = zip(*(shards.sentence(row) for row in rows.tolist()), strict=True)
        ids, mask = padded(words, widths[0])
        batch = Batch(ids=ids, targets=padded(tags, widths[0])[0], mask=mask)
        return shards.strange.told(batch, [int(shards.ends[row - 1]) if row else 0 for row in rows.tolist()])


def tagged(shards: Shards) -> TagShards:
    """The shards, if they have tags."""
    return held(shards, TagShards, "tags", "words with tags")
