"""Batches of recordings with their texts: one a row, as row_batches.py puts them together.

    frames  f1 f2 f3 f4 f5        targets  s1 s2        neither is shifted, nothing marks an end

Lengths are in frames.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from foresay.data.batch import Batch
from foresay.data.frame_shards import SpeechShards
from foresay.data.row_batches import RowBatches, held
from foresay.data.shards import Shards
from foresay.parts import Count, Size, part


@part("batches", "speech")
class SpeechBatches(RowBatches):
    """One recording a row, recordings of like length together, a budget of frames per batch."""

    reads = "speech"
    noun, unit = "recordings", "frames"

    def __init__(self, tokens: Size = 4096, longest: Size = 2048, width: Size = 16, workers: Count = 0):
        super().__init__(tokens, longest, width, workers)

    def own(self, shards: Shards) -> SpeechShards:
        return held(shards, SpeechShards, "speech", "recordings with texts")

    def sizes(self, shards: SpeechShards) -> np.ndarray:
        return shards.frame_sizes[:, None]

    def batch_of(self, shards: SpeechShards, rows: np.ndarray, widths: Sequence[int]) -> Batch:
        return shards.batch(rows, widths[0])
