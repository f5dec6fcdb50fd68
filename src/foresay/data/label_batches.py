"""Batches of texts with labels: one text a row, as row_batches.py puts them together.

    ids  t1 t2 t3          labels  the number of its label, or 0 and 1 for each of several

Neither START nor STOP is among the ids. Of a text longer than `longest` the first so many tokens are read, in training
and after: none is left out. In place of ids, keywords have the frames of a recording.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from foresay.data.batch import Batch
from foresay.data.label_shards import LabelShards
from foresay.data.row_batches import RowBatches, held
from foresay.data.shards import Shards
from foresay.parts import Count, Size, part


@part("batches", "labels")
class LabelBatches(RowBatches):
    """One text with its label a row, texts of like length together, a budget of tokens per batch."""

    reads = "labels"
    noun = "texts"
    bucketed = True

    def __init__(self, tokens: Size = 4096, longest: Size = 512, width: Size = 8, workers: Count = 0):
        super().__init__(tokens, longest, width, workers)

    def own(self, shards: Shards) -> LabelShards:
        return labelled(shards)

    def sizes(self, shards: LabelShards) -> np.ndarray:
        return np.minimum(shards.sizes, self.most)[:, None]

    def too_long(self, shards: LabelShards) -> int:
        """How many texts are not read to their end."""
        return int((shards.sizes > self.most).sum())

    def batch_of(self, shards: LabelShards, rows: np.ndarray, widths: Sequence[int]) -> Batch:
        """Some texts, each cut to a width or padded on the right."""
        return shards.batch(rows, widths[0])


def labelled(shards: Shards) -> LabelShards:
    """The shards, if they have labels."""
    return held(shards, LabelShards, "labels", "texts with labels")
