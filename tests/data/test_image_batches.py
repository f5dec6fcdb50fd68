"""Batches of pictures: every picture whole and once, without a STOP, with its label, the same for a seed and a step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from foresay.data.image_batches import ImageBatches
from foresay.data.images import Images
from foresay.data.levels import LevelShards
from foresay.data.prepare import prepare
from foresay.errors import UserError
from foresay.text.levels import Levels
from foresay.text.tokens import START
from tests.data.made import shards_of
from tests.data.test_images import written


@pytest.fixture
def shards() -> LevelShards:
    found = prepare(Images(written(Path("x.npy"), 11), share=0.0), Levels(256), 1).train
    assert isinstance(found, LevelShards)
    return found


def rows_of(batch) -> list[tuple[int, ...]]:
    assert batch.mask is None and batch.fresh
    assert batch.ids[:, 0].tolist() == [START] * len(batch.ids)
    assert torch.equal(batch.ids[:, 1:], batch.targets[:, :-1])
    return [(*row, label) for row, label in zip(batch.targets.tolist(), batch.given.tolist(), strict=True)]


def own() -> list[tuple[int, ...]]:
    values = np.lib.format.open_memmap("x.npy", mode="r").reshape(11, 6).astype(int) + 5
    return [(*row.tolist(), number % 2) for number, row in enumerate(values)]


def test_evaluation_reads_all_in_order_without_stops(shards: LevelShards) -> None:
    batches = list(ImageBatches(rows=4).evaluation(shards))
    assert [len(batch.ids) for batch in batches] == [4, 4, 3]
    assert [row for batch in batches for row in rows_of(batch)] == own()
    assert ImageBatches().predicted(shards) == 66 == sum(batch.targets.numel() for batch in batches)


def test_an_epoch_has_every_picture_once(shards: LevelShards) -> None:
    order = ImageBatches(rows=4).open(shards, 3)
    assert order.per_epoch == 3 and order.left_out == 0
    epochs = [[row for step in range(3) for row in rows_of(order.batch(3 * e + step))] for e in range(2)]
    assert sorted(epochs[0]) == sorted(epochs[1]) == sorted(own()) and epochs[0] != epochs[1]
    again = ImageBatches(rows=4).open(shards, 3)
    assert all(rows_of(again.batch(step)) == rows_of(order.batch(step)) for step in (4, 0))


def test_without_labels_nothing_is_given() -> None:
    found = prepare(Images(written(Path("bare.npy"), 5, labelled=False), share=0.0), Levels(4), 1).train
    assert all(batch.given is None for batch in ImageBatches().evaluation(found))


def test_a_text_is_refused(tmp_path: Path) -> None:
    text = shards_of(tmp_path / "text", [[5, 6, 7]], vocabulary=9)
    with pytest.raises(UserError, match=r"train\.batches=images needs images; allowed: data\.kind=images"):
        ImageBatches().open(text, 1)
    with pytest.raises(UserError, match="rows=1, but images are read one a row"):
        ImageBatches().in_rows(1)
