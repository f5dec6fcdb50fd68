"""Windows of series: training draws them anew in every epoch, an evaluation predicts every step once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from foresay.data.series_batches import SeriesBatches
from foresay.data.series_form import Music, SeriesForm
from foresay.data.series_shards import SeriesShards, SeriesWriter
from foresay.errors import UserError

LENGTHS, BEGINS = (23, 4, 10, 7), (0, 0, 6, 3)


@pytest.fixture
def shards(tmp_path: Path) -> SeriesShards:
    """The step t of series n is 100 n + t."""
    SeriesForm(("a",), (0.0,), (1.0,), (0.0,), (400.0,), (True,), (0.0,)).save(tmp_path)
    with SeriesWriter(tmp_path / "train", 6) as writer:
        for number, (size, begin) in enumerate(zip(LENGTHS, BEGINS, strict=True)):
            writer.add(str(number), (100 * number + np.arange(size, dtype=np.float32))[:, None], begin)
        writer.finish()
    return SeriesShards(tmp_path / "train")


@pytest.mark.parametrize(("rows", "length"), [(2, 8), (3, 5), (1, 100), (16, 1), (4, 23)])
def test_an_evaluation_predicts_every_step_once(shards: SeriesShards, rows: int, length: int) -> None:
    settings = SeriesBatches(rows=rows, length=length)
    met = []
    for batch in settings.evaluation(shards):
        assert batch.frames is not None and batch.targets is not None
        assert (
            batch.frames.shape[0] * batch.frames.shape[1] <= max(rows * length, length)
            and batch.frames.dtype == torch.float32
        )
        mask = torch.ones(batch.targets.shape[:2], dtype=torch.bool) if batch.mask is None else batch.mask
        known = ~batch.targets[..., 0].isnan()
        assert not (known & ~mask).any()
        assert torch.equal(
            batch.frames[..., 0][known & ~batch.frames[..., 0].isnan()] + 1,
            batch.targets[..., 0][known & ~batch.frames[..., 0].isnan()],
        )
        met += batch.targets[known].flatten().tolist()
        # what is unknown where something is predicted is only the step before the first
        assert set(batch.targets[known & batch.frames[..., 0].isnan()].flatten().tolist()) <= {0.0, 100.0}
    wanted = [
        100 * n + t for n, (size, begin) in enumerate(zip(LENGTHS, BEGINS, strict=True)) for t in range(begin, size)
    ]
    assert sorted(met) == wanted and len(met) == len(shards)


def test_half_a_window_is_context(shards: SeriesShards) -> None:
    windows = list(SeriesBatches(length=8).windows(shards))
    assert [window for window in windows if window[0] == 0] == [
        (0, 0, 8, 0), (0, 4, 12, 8), (0, 8, 16, 12), (0, 12, 20, 16), (0, 16, 23, 20)
    ]  # fmt: skip
    assert [window for window in windows if window[0] > 0] == [(1, 0, 4, 0), (2, 2, 10, 6), (3, 0, 7, 3)]


def test_the_windows_of_each_row_are_told(shards: SeriesShards) -> None:
    for windows, batch in SeriesBatches(rows=2, length=8).placed(shards):
        assert batch.targets is not None
        for row, (number, begin, end, predicted) in enumerate(windows):
            own = batch.targets[row, predicted - begin : end - begin, 0]
            assert own.tolist() == [100 * number + t for t in range(predicted, end)]


def test_training_covers_the_series_in_every_epoch(shards: SeriesShards) -> None:
    order = SeriesBatches(rows=2, length=8).open(shards, seed=5)
    assert order.per_epoch == 4  # 3 + 1 + 2 + 1 windows, two at a time
    epochs = []
    for epoch in range(2):
        batches = [order.batch(epoch * 4 + at) for at in range(4)]
        assert sum(len(batch.targets) for batch in batches) == 7
        epochs.append([step for batch in batches for row in batch.targets.tolist() for (step,) in row])
        steps = {step for step in epochs[-1] if step == step}
        assert not steps & {*range(200, 206), *range(300, 303)}  # what is there for context is no target
        assert {*range(100, 104), *range(303, 307)} < steps  # series that fit are there whole
    assert epochs[0] != epochs[1]
    again = SeriesBatches(rows=2, length=8).open(shards, seed=5).batch(6)
    torch.testing.assert_close(again.targets, order.batch(6).targets, equal_nan=True)


def test_music_is_transposed_within_the_keyboard(tmp_path: Path) -> None:
    """Keys move together, by every number of keys that is allowed, and only in training."""
    names = tuple(f"k{n}" for n in range(12))
    music = (names, (0.0,) * 12, (1.0,) * 12, (0.0,) * 12, (1.0,) * 12, (True,) * 12, (0.0,) * 12, Music(60, 0.5))
    SeriesForm(*music).save(tmp_path)
    roll = np.zeros((4, 12), np.float32)
    roll[0, 2], roll[1, 4], roll[3, 9] = 1, 1, 1
    with SeriesWriter(tmp_path / "train", 6) as writer:
        writer.add("x", roll, 0)
        writer.finish()
    shards = SeriesShards(tmp_path / "train")
    settings = SeriesBatches(rows=1, length=4, transpose=3)
    order, met = settings.open(shards, seed=1), set()
    for step in range(60):
        batch = order.batch(step)
        assert batch.frames is not None and batch.targets is not None
        by = int(batch.targets[0, 0].argmax()) - 2
        assert np.array_equal(batch.targets[0], np.roll(roll, by, 1))
        assert np.array_equal(batch.frames[0, 1:], batch.targets[0, :-1])
        met.add(by)
    assert met == {-2, -1, 0, 1, 2}  # two keys of room below, two above
    assert np.array_equal(next(iter(settings.evaluation(shards))).targets[0], roll)


def test_only_music_is_transposed(shards: SeriesShards) -> None:
    with pytest.raises(UserError, match=r"transpose=2 moves keys of music, and this is one column \(a\); leave it out"):
        SeriesBatches(transpose=2).own(shards)


def test_texts_are_refused() -> None:
    with pytest.raises(UserError, match=r"train.batches=series needs series; allowed: data.kind=series"):
        SeriesBatches().own(object())
