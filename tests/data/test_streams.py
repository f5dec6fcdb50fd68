"""Streams, by value."""

import pytest
import torch

from foresay.data.packed import Packed
from foresay.data.streams import Streams, chunk_lengths
from foresay.errors import UserError
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


def test_chunks_of_several_lengths_by_hand():
    """Shares of k = -2 .. 2 are e^-2 : e^-1/2 : 1 : e^-1/2 : e^-2 over their sum 2.4838."""
    lengths = chunk_lengths(70_000, 70, 0.05, 5)
    counts = {length: lengths.count(length) / len(lengths) for length in sorted(set(lengths))}
    normal = {60: 0.0545, 65: 0.2442, 70: 0.4026, 75: 0.2442, 80: 0.0545}
    assert counts == pytest.approx({35: 0.05} | {length: 0.95 * share for length, share in normal.items()}, abs=2e-3)
    assert 70_000 - 80 < sum(lengths) <= 70_000
    assert chunk_lengths(100, 30, 0.0, 0) == [30, 30, 30]
    assert chunk_lengths(9, 8, 0.0, 3) == [8]


def test_lengths_are_seeded_and_every_token_comes_once(tmp_path):
    shards = shards_of(tmp_path / "s", [list(range(10, 2010))])
    streams = Streams(rows=2, chunk=20, half=0.2, jitter=4)
    order, again, other = (streams.open(shards, seed) for seed in (1, 1, 2))
    epochs = [[order.batch(epoch * order.per_epoch + i) for i in range(order.per_epoch)] for epoch in range(3)]
    widths = [[batch.ids.shape[1] for batch in epoch] for epoch in epochs]
    assert set(widths[0]) <= {10, 12, 16, 20, 24, 28} and 10 in widths[0] and len(set(widths[0])) > 3
    assert sorted(widths[0]) == sorted(widths[1]) and widths[0] != widths[1] != widths[2]
    for epoch in epochs:
        row = torch.cat([batch.targets[0] for batch in epoch])
        ids = torch.cat([batch.ids[0] for batch in epoch])
        assert torch.equal(ids[1:], row.where(row != STOP, START)[:-1])  # without a gap
        assert [batch.fresh for batch in epoch] == [True] + [False] * (len(epoch) - 1)
        assert all(batch.pace == batch.ids.shape[1] / 20 for batch in epoch)
    for step in (5, 2 * order.per_epoch + 3):  # by number, in any order
        assert torch.equal(again.batch(step).ids, order.batch(step).ids)
    assert [other.batch(step).ids.shape for step in range(20)] != [order.batch(step).ids.shape for step in range(20)]


def test_short_rows_still_have_a_chunk(tmp_path):
    shards = shards_of(tmp_path / "s", [list(range(10, 19))])  # 10 tokens
    order = Streams(rows=8, chunk=64, half=0.05, jitter=5).open(shards, 1)
    assert order.per_epoch >= 1 and 1 <= order.batch(0).ids.shape[1] <= 10


def test_a_jitter_wider_than_the_chunk_is_refused():
    with pytest.raises(UserError, match=r"chunk=10, half=0, jitter=5; allowed: chunk > 2 jitter"):
        Streams(chunk=10, jitter=5)


def test_shapes_repeat_without_documents_inside():
    assert Streams().repeats and Streams(jitter=2, half=0.1).repeats
    assert not Streams(reset=True).repeats and not Streams(forget=0.1).repeats


def test_the_same_text_in_another_number_of_rows(tmp_path):
    shards = shards_of(tmp_path / "s", [list(range(10, 31))])  # 22 tokens
    streams = Streams(rows=4, chunk=3, jitter=1).in_rows(1)
    assert (streams.rows, streams.chunk) == (1, 12)
    first, second = streams.evaluation(shards)
    assert first.targets.tolist() == [list(range(10, 22))] and second.targets.tolist() == [[*range(22, 31), STOP]]
    assert (first.fresh, second.fresh) == (True, False)
    assert Streams(rows=4, chunk=3).in_rows(100).chunk == 1
    with pytest.raises(UserError, match="rows=1, but only streams are read in rows"):
        Packed().in_rows(1)
