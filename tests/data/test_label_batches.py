"""Batches of texts with labels: every text once an epoch, like lengths together, long ones cut."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from foresay.data.label_batches import LabelBatches
from foresay.data.label_shards import LabelSet, LabelShards, LabelWriter
from foresay.data.strange import StrangeWriter
from foresay.errors import UserError
from foresay.parts import make
from foresay.text.tokens import PAD
from tests.data.made import shards_of

LENGTHS = [3, 1, 9, 4, 4, 2, 12]


@pytest.fixture
def shards() -> LabelShards:
    LabelSet(("a", "b"), False, (4, 3)).save(Path())
    writer = LabelWriter(Path("train"), 30)
    ids = [np.arange(5, 5 + n, dtype=np.uint32) + row for row, n in enumerate(LENGTHS)]
    with writer:
        writer.add(list(range(7)), ids, ["x"] * 7)
        writer.numbers += [[row % 2] for row in range(7)]
        writer.finish()
    StrangeWriter(make("tokens", "blanks")).save(Path("train"))
    return LabelShards(Path("train"))


def rows_of(batch) -> list[tuple[int, int, int]]:
    """(first symbol less five: the row's number, length, label) of each row; its symbols count up from there."""
    mask = torch.ones_like(batch.ids, dtype=torch.bool) if batch.mask is None else batch.mask
    found = []
    for ids, real, label in zip(batch.ids, mask, batch.labels, strict=True):
        n = int(real.sum())
        assert ids[:n].tolist() == list(range(int(ids[0]), int(ids[0]) + n)) and (ids[n:] == PAD).all()
        found.append((int(ids[0]) - 5, n, int(label)))
    return found


def test_evaluation_reads_all_in_order(shards: LabelShards) -> None:
    batches = list(LabelBatches(tokens=18, longest=9).evaluation(shards))
    rows = [row for batch in batches for row in rows_of(batch)]
    assert rows == [(row, min(n, 9), row % 2) for row, n in enumerate(LENGTHS)]
    assert [tuple(batch.ids.shape) for batch in batches] == [(2, 3), (2, 9), (2, 4), (1, 9)]
    assert all(batch.targets is None and batch.weight == len(batch.labels) for batch in batches)


def test_an_epoch_has_every_text_once(shards: LabelShards) -> None:
    order = LabelBatches(tokens=12, longest=10, width=4).open(shards, 1)
    epochs = []
    for epoch in range(2):
        found = [order.batch(epoch * order.per_epoch + step) for step in range(order.per_epoch)]
        assert all(batch.ids.numel() <= 12 and batch.ids.shape[1] in (4, 8, 10) for batch in found)
        epochs.append([row for batch in found for row in rows_of(batch)])
    expected = [(row, min(n, 10), row % 2) for row, n in enumerate(LENGTHS)]
    assert sorted(epochs[0]) == sorted(epochs[1]) == expected and epochs[0] != epochs[1]


def test_a_text_without_labels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"needs texts with labels; allowed: data\.kind=labels"):
        LabelBatches().open(shards_of(tmp_path / "x", [[5, 6]], vocabulary=9), 1)
