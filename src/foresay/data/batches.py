"""How token shards become batches: what every kind of batches keeps, and the shift by one.

    targets  t1 t2 STOP u1 STOP          the tokens as they stand in the shards
    ids      START t1 t2 START u1        the token before each; after a STOP comes START

Batch number `step` depends on the shards, the seed and the step only: training resumes at any step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
import torch

from foresay.data.batch import Batch
from foresay.data.shards import Shards
from foresay.errors import UserError, counted
from foresay.text.tokens import PAD, START, STOP


class BatchOrder(Protocol):
    """Batches by number: a pure function of the step."""

    @property
    def per_epoch(self) -> int:
        """Batches in one pass over the data."""
        ...

    def batch(self, step: int) -> Batch:
        """Batch number `step`, counted from 0 through all epochs."""
        ...


class Batches:
    """`open` for training, `evaluation` for one pass in order."""

    part_kind = "batches"
    workers: int = 0  # threads that make batches ahead
    longest: int | None = None  # the most steps a row has from its beginning; None: it goes on for ever
    pairs = False  # True: rows have a source beside them
    reads = "text"  # the kind of data that these batches are made of
    noun = "text"  # what an evaluation is of
    carries = False  # True: a batch goes on from the state of the one before
    repeats: bool = False  # True: every batch has one of a few shapes, without padding
    bucketed = False  # True: a batch has the shape of its bucket, and says how often that comes (`alike`)

    def open(self, shards: Shards, seed: int) -> BatchOrder:
        """The training order of these shards under a seed."""
        raise AssertionError

    def evaluation(self, shards: Shards) -> Iterator[Batch]:
        """Every token once, in order."""
        raise AssertionError

    def predicted(self, shards: Shards) -> int:
        """How many tokens an evaluation predicts."""
        return len(shards)

    def as_learnt(self) -> Batches:
        """The same for evaluations of what was learnt from: without the rows that training leaves out."""
        return self

    def in_rows(self, rows: int, *, reset: bool = False) -> Batches:
        """The same in so many rows, where a row goes on from batch to batch; `reset`: but not into a new document."""
        raise UserError(f"rows={rows}, but only streams are read in rows; leave it out")


def check_enough(shards: Shards) -> None:
    """Refuses data too small to predict anything from."""
    if len(shards) < 2:
        raise UserError(f"{shards.folder} holds {counted(len(shards), 'token')}; at least 2 are needed: give more text")


def shifted(shards: Shards, start: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and targets of `count` tokens from `start`; past the end the stream begins anew."""
    total = len(shards)
    start %= total
    stream = shards.slice(max(start - 1, 0), start + count)
    if start == 0:
        stream = np.concatenate([[STOP], stream])
    while len(stream) <= count:
        stream = np.concatenate([stream, shards.slice(0, count + 1 - len(stream))])
    ids, targets = stream[:count].copy(), stream[1:]
    ids[ids == STOP] = START
    return ids, targets


def spans(shards: Shards, where: Sequence[tuple[int, int]], width: int, fresh: bool, starts: bool = False) -> Batch:
    """Rows (where each begins in the stream, how many tokens) as a batch, with the label of each token's text."""
    batch = joined([shifted(shards, start, count) for start, count in where], width, fresh, starts)
    given = shards.given(where, width)
    return batch if given is None else replace(batch, given=torch.from_numpy(given))


def joined(rows: list[tuple[np.ndarray, np.ndarray]], width: int, fresh: bool, starts: bool = False) -> Batch:
    """Rows of (inputs, targets) as a batch, padded on the right to `width`."""
    ids = np.full((len(rows), width), PAD, dtype=np.int64)
    targets = np.full((len(rows), width), PAD, dtype=np.int64)
    mask = np.zeros((len(rows), width), dtype=bool)
    for i, (before, after) in enumerate(rows):
        ids[i, : len(before)] = before
        targets[i, : len(after)] = after
        mask[i, : len(after)] = True
    return Batch(
        ids=torch.from_numpy(ids),
        targets=torch.from_numpy(targets),
        mask=None if mask.all() else torch.from_numpy(mask),
        starts=torch.from_numpy(ids == START) if starts else None,
        fresh=fresh,
    )


def epoch_random(seed: int, epoch: int) -> np.random.Generator:
    """The random numbers of one epoch."""
    return np.random.default_rng([seed, epoch])
