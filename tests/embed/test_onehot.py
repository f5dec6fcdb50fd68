"""One-hot vectors by hand, and as what they are: a product with them picks rows."""

from __future__ import annotations

import torch

from foresay.data.batch import Batch
from foresay.embed.onehot import OneHot


def build(vocabulary: int) -> OneHot:
    embedding = OneHot()
    embedding.build(vocabulary)
    return embedding


def test_by_hand():
    x = build(3)(Batch(ids=torch.tensor([[2, 0], [1, 1]])))
    assert x.tolist() == [[[0, 0, 1], [1, 0, 0]], [[0, 1, 0], [0, 1, 0]]]


def test_a_product_picks_rows():
    ids, table = torch.tensor([[3, 0, 10]]), torch.randn(11, 4)
    assert torch.equal(build(11)(Batch(ids=ids)) @ table, torch.nn.functional.embedding(ids, table))


def test_nothing_is_learnt_and_nothing_can_be_tied():
    embedding = build(5)
    assert embedding.width == 5 and embedding.weight() is None and list(embedding.parameters()) == []


def test_in_the_default_dtype():
    ids = torch.tensor([[1]])
    assert build(2)(Batch(ids=ids)).dtype == torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert build(2)(Batch(ids=ids)).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
