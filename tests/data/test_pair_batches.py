"""Batches of pairs: both lengths, every pair once an epoch, padding on the right, the same for a seed and a step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from foresay.data.batch import Batch
from foresay.data.pair_batches import PairBatches
from foresay.data.pair_shards import PairShards
from foresay.data.row_shards import RowWriter, lengths
from foresay.errors import UserError
from foresay.text.tokens import PAD, START, STOP
from tests.data.made import shards_of


@pytest.fixture
def pairs(tmp_path: Path) -> PairShards:
    draw = np.random.default_rng(3)
    sources = [draw.integers(5, 40, size) for size in draw.integers(1, 30, 200)]
    targets = [row[: 1 + len(row) // 2] for row in sources]
    with RowWriter(tmp_path / "train", 40, source=40) as writer:
        writer.add(range(1, 201), targets, [""] * 200, source=(sources, [""] * 200))
        assert writer.finish() == 200
    return PairShards(tmp_path / "train")


def batch_of(pairs: PairShards, rows: np.ndarray) -> Batch:
    """Some pairs, padded to the longest of each side."""
    batches = PairBatches()
    return batches.batch_of(pairs, rows, batches.sizes(pairs)[rows].max(0).tolist())


def rows_of(batch) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [
        (tuple(t for t in source.tolist() if t != PAD), tuple(t for t in target.tolist() if t != PAD))
        for source, target in zip(batch.source, batch.targets, strict=True)
    ]


def test_a_row_is_a_pair(pairs):
    batch = batch_of(pairs, np.array([3, 7]))
    for row, number in enumerate((3, 7)):
        source, target = lengths(pairs.source)[number], lengths(pairs)[number]
        begin = int(pairs.ends[number - 1])
        own = pairs.slice(begin, int(pairs.ends[number]))
        assert batch.targets[row, :target].tolist() == own.tolist() and own[-1] == STOP
        assert batch.ids[row, :target].tolist() == [START, *own[:-1]]
        assert (batch.targets[row, target:] == PAD).all() and (batch.ids[row, target:] == PAD).all()
        assert int(batch.source_mask[row].sum()) == source and batch.source[row, source - 1] == STOP
        assert batch.source_mask[row].tolist() == (batch.source[row] != PAD).tolist()
    assert batch.fresh and batch.tokens == int(lengths(pairs)[[3, 7]].sum())
    assert batch.to("cpu").source is not None


def test_every_pair_once_an_epoch_and_like_lengths_together(pairs):
    order = PairBatches(tokens=100, width=4).open(pairs, seed=2)
    batches = [order.batch(step) for step in range(order.per_epoch)]
    assert sorted(row for batch in batches for row in rows_of(batch)) == sorted(
        rows_of(batch_of(pairs, np.arange(200)))
    )
    for batch in batches:
        real = batch.source != PAD, batch.targets != PAD
        for mask in real:
            assert mask.shape[1] - mask.sum(1).max() < 4 and mask.sum(1).max() - mask.sum(1).min() < 4
        assert len(batch.ids) * max(batch.source.shape[1], batch.ids.shape[1]) <= 100


def test_no_batch_is_wider_than_the_longest_of_its_side(pairs):
    """A large width, which mixes lengths, pads targets of at most 16 to 16 and not to the width."""
    order = PairBatches(tokens=300, width=24).open(pairs, seed=2)
    widest = [int(lengths(side).max()) for side in (pairs.source, pairs)]
    shapes = {(order.batch(step).source.shape[1], order.batch(step).ids.shape[1]) for step in range(order.per_epoch)}
    assert widest == [30, 16] and shapes == {(24, 16), (30, 16)}


def test_a_batch_depends_on_seed_and_step_alone(pairs):
    one, other = (PairBatches(tokens=100).open(pairs, seed=2) for _ in range(2))
    for step in (0, 5, one.per_epoch + 3):
        assert torch.equal(one.batch(step).source, other.batch(step).source)
    assert any(not torch.equal(one.batch(step).source, one.batch(step + one.per_epoch).source) for step in range(3))


def test_long_pairs_are_left_out_of_training_only(pairs):
    batches = PairBatches(tokens=100, longest=12)
    order, longest = batches.open(pairs, 1), np.maximum(lengths(pairs.source), lengths(pairs))
    assert order.left_out == int((longest > 12).sum()) > 0
    found = [row for step in range(order.per_epoch) for row in rows_of(order.batch(step))]
    assert len(found) == int((longest <= 12).sum())
    measured = list(batches.evaluation(pairs))
    assert [row for batch in measured for row in rows_of(batch)] == rows_of(batch_of(pairs, np.arange(200)))
    with pytest.raises(UserError, match="longest=1 leaves none of 200 pairs; the shortest has 2 tokens"):
        PairBatches(longest=1).open(pairs, 1)


def test_a_text_is_refused(tmp_path):
    shards = shards_of(tmp_path / "text", [[5, 6, 7]], vocabulary=9)
    with pytest.raises(UserError, match="needs a source and a target"):
        PairBatches().open(shards, 1)
