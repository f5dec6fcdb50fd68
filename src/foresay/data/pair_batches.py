"""Batches of pairs: one pair a row, pairs of like length on both sides together, as row_batches.py puts them.

    source  s1 s2 s3 STOP        targets  t1 t2 STOP        ids  START t1 t2

Both lengths count STOP.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from foresay.data.batch import Batch
from foresay.data.pair_shards import PairShards
from foresay.data.row_batches import RowBatches, held, padded
from foresay.data.row_shards import documents, lengths
from foresay.data.shards import Shards
from foresay.parts import Count, Size, part
from foresay.text.tokens import PAD, START


@part("batches", "pairs")
class PairBatches(RowBatches):
    """One pair a row, pairs of like length on both sides together, a budget of tokens per batch."""

    pairs = True
    reads = "pairs"
    noun = "pairs"
    bucketed = True

    def __init__(self, tokens: Size = 4096, longest: Size = 256, width: Size = 8, workers: Count = 0):
        super().__init__(tokens, longest, width, workers)

    def own(self, shards: Shards) -> PairShards:
        return held(shards, PairShards, "pairs", "a source and a target")

    def sizes(self, shards: PairShards) -> np.ndarray:
        return np.stack([lengths(shards.source), lengths(shards)], 1)

    def batch_of(self, shards: PairShards, rows: np.ndarray, widths: Sequence[int]) -> Batch:
        source, source_mask = padded(documents(shards.source, rows), widths[0])
        found, mask = padded(documents(shards, rows), widths[1])
        begun = torch.full((len(rows), 1), START)
        ids = torch.cat([begun, found[:, :-1]], 1)
        ids = ids if mask is None else ids.where(mask, PAD)
        return Batch(ids=ids, targets=found, mask=mask, source=source, source_mask=source_mask)
