"""Cells against torch.nn with the same weights, and the lecture's GRU worked by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from foresay import parts
from foresay.encode.cells.gru import GRU
from foresay.encode.cells.lstm import LSTM

B, T, D, H = 2, 5, 3, 7
PEERS = [
    ({"kind": "elman"}, nn.RNN(D, H, batch_first=True)),
    ({"kind": "elman", "activation": "relu"}, nn.RNN(D, H, batch_first=True, nonlinearity="relu")),
    ({"kind": "lstm"}, nn.LSTM(D, H, batch_first=True)),
    ({"kind": "gru-cudnn"}, nn.GRU(D, H, batch_first=True)),
]


@pytest.mark.parametrize("plain", ["0", "1"])
@pytest.mark.parametrize("recipe, peer", PEERS)
def test_equals_torch(recipe, peer, plain, monkeypatch):
    monkeypatch.setenv("FORESAY_PLAIN", plain)
    cell, peer = parts.make("cell", recipe), peer.double()
    cell.build(D, H)
    cell.double().load_state_dict({name.removesuffix("_l0"): value for name, value in peer.state_dict().items()})
    x = torch.randn(B, T, D, dtype=torch.float64)
    state = {name: torch.randn(B, H, dtype=torch.float64) for name in cell.states}
    given = [state[name][None] for name in cell.states]
    expected, last = peer(x, tuple(given) if len(given) > 1 else given[0])
    y, after = cell.run(x, state)
    torch.testing.assert_close(y, expected)
    for name, value in zip(cell.states, last if len(given) > 1 else [last], strict=True):
        torch.testing.assert_close(after[name], value[0])


@pytest.mark.parametrize("activation, expected", [("sigmoid", 1 / (1 + math.exp(-2.5))), ("identity", 2.5)])
def test_elman_by_hand(activation, expected):
    """x = 2, h = 1, W = 0.5, U = 1, b = 0.25 + 0.25: a = 1 + 1 + 0.5 = 2.5."""
    cell = parts.make("cell", {"kind": "elman", "activation": activation})
    cell.build(1, 1)
    values = {"weight_ih": [[0.5]], "weight_hh": [[1.0]], "bias_ih": [0.25], "bias_hh": [0.25]}
    cell.load_state_dict({name: torch.tensor(value) for name, value in values.items()})
    y, _ = cell.run(torch.tensor([[[2.0]]]), {"h": torch.tensor([[1.0]])})
    assert y.item() == pytest.approx(expected, rel=1e-6)


def test_lecture_gru_by_hand():
    """Two units, x = 1, h = (0.5, -1); the reset gate works on h before the product with U.

    z = sigmoid(Wz x + Uz h) = sigmoid(0, ln 3)                = (0.5, 0.75)
    r = sigmoid(Wr x + Ur h) = sigmoid(ln 4, 0)                = (0.8, 0.5)
    r * h = (0.4, -0.5);  W x = (0.1, 0.3);  U (r * h) = (-0.5, 0.4)    (U exchanges the two)
    h~ = tanh(-0.4, 0.7) = (-0.37994896, 0.60436778)
    h' = (1 - z) h + z h~ = (0.5 * 0.5 - 0.5 * 0.37994896, -0.25 + 0.75 * 0.60436778) = (0.06002552, 0.20327583)
    """
    cell = GRU()
    cell.build(1, 2)
    wz, wr, w = [0.5, math.log(3) - 1], [math.log(4) - 0.5, 1.0], [0.1, 0.3]
    uz, ur, u = [[-1, 0], [0, -1]], [[1, 0], [0, 1]], [[0, 1], [1, 0]]
    weight_ih = torch.tensor([wz, wr, w]).reshape(6, 1)
    weight_hh, weight_rh = torch.tensor(uz + ur).float(), torch.tensor(u).float()
    cell.load_state_dict({"weight_ih": weight_ih, "weight_hh": weight_hh, "weight_rh": weight_rh})
    y, _ = cell.run(torch.ones(1, 1, 1), {"h": torch.tensor([[0.5, -1.0]])})
    torch.testing.assert_close(y[0, 0], torch.tensor([0.06002552, 0.20327583]))


def test_lecture_gru_has_no_biases():
    cell = GRU()
    cell.build(D, H)
    assert {name for name, _ in cell.named_parameters()} == {"weight_ih", "weight_hh", "weight_rh"}


@pytest.mark.parametrize("forget_bias", [1.0, 0.0, 2.5])
def test_forget_bias_is_the_total(forget_bias):
    cell = LSTM(forget_bias=forget_bias)
    cell.build(D, H)
    assert cell.bias_ih is not None and cell.bias_hh is not None
    total = cell.bias_ih + cell.bias_hh
    assert (total[H : 2 * H] == forget_bias).all()
    assert (total[:H] == 0).all() and (total[2 * H :] == 0).all()
