"""Batches of pairs: one pair a row, pairs of like length on both sides together, a budget of tokens per batch.

    source  s1 s2 s3 STOP        targets  t1 t2 STOP        ids  START t1 t2

Lengths, STOP included, are rounded up to a multiple of `width`, but not above the longest of their side; a bucket holds
one rounded length n of sources and one m of targets, and a batch of it has tokens // max(n, m) rows. Pairs with a side
longer than `longest` are left out of training, never of an evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.data.batches import Batches
from foresay.data.buckets import Shuffled
from foresay.data.pair_shards import PairShards, lengths
from foresay.data.shards import Shards
from foresay.errors import UserError
from foresay.parts import Count, Size, part
from foresay.text.tokens import PAD, START


@part("batches", "pairs")
class PairBatches(Batches):
    """One pair a row, pairs of like length on both sides together, a budget of tokens per batch."""

    pairs = True
    reads = "pairs"

    def __init__(self, tokens: Size = 4096, longest: Size = 256, width: Size = 8, workers: Count = 0):
        self.tokens, self.width, self.workers = tokens, width, workers
        self.longest = self.most = longest

    def open(self, shards: Shards, seed: int) -> PairOrder:
        return PairOrder(both(shards), seed, self)

    def evaluation(self, shards: Shards) -> Iterator[Batch]:
        pairs = both(shards)
        longer = np.maximum(lengths(pairs.source), lengths(pairs))
        first = 0
        while first < len(longer):
            last, widest = first, 0
            while last < len(longer):
                wider = max(widest, int(longer[last]))
                if last > first and wider * (last - first + 1) > self.tokens:
                    break
                last, widest = last + 1, wider
            yield batch_of(pairs, np.arange(first, last))
            first = last


class PairOrder:
    """The training order: pairs shuffled within their bucket, then the batches shuffled."""

    def __init__(self, shards: PairShards, seed: int, settings: PairBatches):
        self.shards = shards
        sizes = np.stack([lengths(shards.source), lengths(shards)], 1)
        self.kept = np.flatnonzero((sizes <= settings.most).all(1))
        if not len(self.kept):
            raise UserError(
                f"train.batches.longest={settings.most} leaves none of {len(sizes)} pairs; the shortest has "
                f"{sizes.max(1).min()} tokens: raise it"
            )
        kept = sizes[self.kept]
        rounded = np.minimum(-(-kept // settings.width) * settings.width, kept.max(0))
        self.base = settings.most + 1
        keys = rounded[:, 0] * self.base + rounded[:, 1]  # one number for both lengths
        self.shuffled = Shuffled(keys, seed, lambda key: np.maximum(settings.tokens // self._longer(key), 1))

    def _longer(self, keys: np.ndarray) -> np.ndarray:
        return np.maximum(keys // self.base, keys % self.base)

    @property
    def per_epoch(self) -> int:
        return self.shuffled.per_epoch

    @property
    def left_out(self) -> int:
        """Pairs that are too long."""
        return self.shards.documents - len(self.kept)

    def batch(self, step: int) -> Batch:
        key, rows = self.shuffled.rows(step)
        return batch_of(self.shards, self.kept[rows], divmod(key, self.base))


def both(shards: Shards) -> PairShards:
    """The shards, if they have sources."""
    if not isinstance(shards, PairShards):
        raise UserError("train.batches=pairs needs a source and a target; allowed: data.kind=pairs")
    return shards


def batch_of(shards: PairShards, rows: np.ndarray, widths: tuple[int, int] | None = None) -> Batch:
    """Some pairs, padded on the right to the given widths of source and target, or to the longest."""
    sources, targets = _documents(shards.source, rows), _documents(shards, rows)
    wide, tall = widths or (max(map(len, sources)), max(map(len, targets)))
    source, source_mask = padded(sources, wide)
    found, mask = padded(targets, tall)
    begun = torch.full((len(rows), 1), START)
    ids = torch.cat([begun, found[:, :-1]], 1)
    ids = ids if mask is None else ids.where(mask, PAD)
    return Batch(ids=ids, targets=found, mask=mask, source=source, source_mask=source_mask)


def padded(rows: list[np.ndarray], width: int) -> tuple[Tensor, Tensor | None]:
    """Rows of ids (B, width) with PAD on the right, and which are real; None where all are."""
    ids = np.full((len(rows), width), PAD, dtype=np.int64)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
    sizes = np.array([len(row) for row in rows])
    mask = np.arange(width) < sizes[:, None]
    return torch.from_numpy(ids), None if mask.all() else torch.from_numpy(mask)


def _documents(shards: Shards, rows: np.ndarray) -> list[np.ndarray]:
    ends = shards.ends
    return [shards.slice(int(ends[row - 1]) if row else 0, int(ends[row])) for row in rows.tolist()]
