"""Buckets, by value."""

from collections import Counter

import torch

from foresay.data.buckets import Buckets, row_spans
from foresay.text.tokens import START, STOP
from tests.data.made import shards_of

DOCUMENTS = [[10] * n for n in (0, 1, 2, 3, 5, 7, 7, 7, 12, 0, 1)]


def test_a_row_is_a_document(tmp_path):
    shards = shards_of(tmp_path / "s", [[10, 11], []])
    order = Buckets(tokens=100, width=4).open(shards, 1)
    batch = order.batch(0)
    rows = sorted(zip(batch.ids.tolist(), batch.targets.tolist(), strict=True))
    assert rows == [([START, 0, 0, 0], [STOP, 0, 0, 0]), ([START, 10, 11, 0], [10, 11, STOP, 0])]
    assert order.per_epoch == 1 and batch.fresh


def test_long_documents_are_cut(tmp_path):
    shards = shards_of(tmp_path / "s", [[10, 11, 12, 13], [14]])
    begins, lengths = row_spans(shards, 2)
    assert begins.tolist() == [0, 2, 4, 5] and lengths.tolist() == [2, 2, 1, 2]


def test_every_epoch_has_all_rows_within_the_budget(tmp_path):
    shards = shards_of(tmp_path / "s", DOCUMENTS)
    order = Buckets(tokens=16, longest=8, width=3).open(shards, 3)
    epochs = []
    for epoch in range(3):
        batches = [order.batch(epoch * order.per_epoch + i) for i in range(order.per_epoch)]
        assert all(batch.ids.numel() <= 16 and batch.ids.shape[1] in (3, 6, 8) for batch in batches)
        masks = [b.mask if b.mask is not None else torch.ones_like(b.ids, dtype=torch.bool) for b in batches]
        epochs.append([tuple(sorted(mask.sum(1).tolist())) for mask in masks])
        lengths = Counter(n for batch in epochs[-1] for n in batch)
        assert lengths == Counter([1, 2, 3, 4, 6, 8, 8, 8, 8, 5, 1, 2])
    assert epochs[0] != epochs[1]


def test_one_row_may_exceed_the_budget(tmp_path):
    shards = shards_of(tmp_path / "s", [[10] * 7])
    assert Buckets(tokens=4, longest=8).open(shards, 1).batch(0).ids.shape == (1, 8)
