"""Streams, by value."""

import torch

from foresay.data.streams import Streams
from foresay.text.tokens import START, STOP
from tests.data.made import shards_of


def test_rows_go_on_from_batch_to_batch(tmp_path):
    shards = shards_of(tmp_path / "s", [list(range(10, 23))])  # 13 tokens and STOP
    order = Streams(rows=2, chunk=3).open(shards, 1)
    assert order.per_epoch == 2
    first, second, third = (order.batch(step) for step in range(3))
    assert first.targets.tolist() == [[10, 11, 12], [17, 18, 19]]
    assert first.ids.tolist() == [[START, 10, 11], [16, 17, 18]]
    assert second.targets.tolist() == [[13, 14, 15], [20, 21, 22]]
    assert (first.fresh, second.fresh, third.fresh) == (True, False, True)
    assert first.starts is None and first.mask is None


def test_later_epochs_begin_elsewhere(tmp_path):
    shards = shards_of(tmp_path / "s", [list(range(10, 110))])
    order = Streams(rows=2, chunk=5).open(shards, 1)
    begins = {int(order.batch(epoch * order.per_epoch).targets[0, 0]) for epoch in range(20)}
    assert len(begins) > 10 and order.batch(0).targets[0, 0] == 10


def test_reset_marks_the_documents(tmp_path):
    shards = shards_of(tmp_path / "s", [[10], [11, 12]])
    batch = Streams(rows=1, chunk=5, reset=True).open(shards, 1).batch(0)
    assert batch.targets.tolist() == [[10, STOP, 11, 12, STOP]]
    assert batch.starts.tolist() == [[True, False, True, False, False]]


def test_a_small_corpus_gets_fewer_rows(tmp_path):
    shards = shards_of(tmp_path / "s", [list(range(10, 19))])  # 10 tokens
    assert Streams(rows=8, chunk=4).open(shards, 1).batch(0).ids.shape == (2, 4)
    assert Streams(rows=8, chunk=64).open(shards, 1).batch(0).ids.shape == (1, 10)


def test_evaluation_pads_the_ragged_end(tmp_path):
    shards = shards_of(tmp_path / "s", [list(range(10, 16))])  # 7 tokens: rows of 4 and 3
    first, second = Streams(rows=2, chunk=3).evaluation(shards)
    assert first.targets.tolist() == [[10, 11, 12], [14, 15, STOP]] and first.mask is None
    assert second.targets.tolist() == [[13], [0]] and second.mask.tolist() == [[True], [False]]


def test_rows_forget_now_and_then(tmp_path):
    """About `forget` of the rows begin anew, the same ones for the same seed and step, at their first step only."""
    shards = shards_of(tmp_path / "s", [list(range(10, 2010))])
    order, again, other = (Streams(rows=20, chunk=5, forget=0.1).open(shards, seed) for seed in (1, 1, 2))
    starts = [order.batch(step).starts for step in range(100)]
    assert all(torch.equal(mark, again.batch(step).starts) for step, mark in enumerate(starts))
    assert not all(torch.equal(mark, other.batch(step).starts) for step, mark in enumerate(starts))
    first = torch.stack([mark[:, 0] for mark in starts]).float()
    assert not any(mark[:, 1:].any() for mark in starts)
    assert abs(first.mean() - 0.1) < 4 * (0.1 * 0.9 / 2000) ** 0.5  # four deviations of 2000 draws
