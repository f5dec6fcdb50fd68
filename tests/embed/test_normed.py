"""An embedding whose vectors have mean 0 and deviation 1."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from foresay.data.batch import Batch
from foresay.errors import UserError
from foresay.parts import make

BATCH = Batch(ids=torch.tensor([[5, 6, 7], [7, 6, 5]]))


def build(**settings: Any) -> Any:
    torch.manual_seed(1)
    embedding = make("embedding", {"kind": "normed", **settings})
    embedding.build(9)
    return embedding


def test_mean_0_and_deviation_1_of_what_is_inside():
    embedding = build(of={"kind": "lookup", "size": 6}).double()
    e = embedding.of.table[BATCH.ids]
    centred = e - e.mean(2, keepdim=True)
    expected = centred / (centred.square().mean(2, keepdim=True) + 1e-5).sqrt()
    torch.testing.assert_close(embedding(BATCH), expected, rtol=1e-9, atol=1e-9)
    assert embedding.width == 6 and embedding.weight() is None


def test_dropout_comes_after():
    embedding = build(of={"kind": "lookup", "size": 200}, dropout=0.5).train()
    x, whole = embedding(BATCH), embedding.eval()(BATCH)
    dropped = x == 0
    assert 0.4 < dropped.double().mean() < 0.6
    torch.testing.assert_close(x[~dropped], 2 * whole[~dropped])


def test_letters_of_unknown_words_and_gradients_go_through():
    letters = {"kind": "characters", "size": 6, "kernels": [[2, 8]], "longest": 8}
    embedding = build(of=letters)
    strange = torch.tensor([[1, 105, 110, 2], [1, 120, 107, 2]], dtype=torch.uint8)
    spelt = Batch(ids=torch.tensor([[1, 1]]), spelt=torch.tensor([[9, 10]]), characters=strange)
    x = embedding(spelt)
    assert not torch.allclose(x[0, 0], x[0, 1])
    x.square().mul(torch.arange(6.0)).sum().backward()
    assert embedding.of.alphabet.grad.abs().sum() > 0


def test_what_sees_ahead_stays_refused_under_a_language_model():
    embedding = build(of={"kind": "lookup", "size": 4})
    embedding.of.sees_ahead = True
    again = type(embedding)(of=embedding.of)
    with pytest.raises(UserError):
        again.must_not_see_ahead()
