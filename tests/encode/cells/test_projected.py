"""LSTM with a projection against torch.nn.LSTM(proj_size=...), which has two biases, added here."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresay.encode.cells.projected import Projected

B, T, D, H, P = 2, 5, 3, 7, 4


@pytest.mark.parametrize("plain", ["0", "1"])
def test_equals_torch(plain, monkeypatch):
    monkeypatch.setenv("FORESAY_PLAIN", plain)
    torch.manual_seed(1)
    cell, peer = Projected(projection=P), nn.LSTM(D, H, batch_first=True, proj_size=P).double()
    cell.build(D, H)
    theirs = {name.removesuffix("_l0"): value for name, value in peer.state_dict().items()}
    bias = theirs["bias_ih"] + theirs["bias_hh"]
    weights = {"weight_ih": theirs["weight_ih"], "weight_hh": theirs["weight_hh"], "weight_shown": theirs["weight_hr"]}
    cell.double().load_state_dict(weights | {"bias_ih": bias})
    x = torch.randn(B, T, D, dtype=torch.float64)
    h, c = torch.randn(B, P, dtype=torch.float64), torch.randn(B, H, dtype=torch.float64)
    expected, (last_h, last_c) = peer(x, (h[None], c[None]))
    y, after = cell.run(x, {"h": h, "c": c})
    assert cell.width == P and y.shape == (B, T, P)
    torch.testing.assert_close(y, expected)
    torch.testing.assert_close(after["h"], last_h[0])
    torch.testing.assert_close(after["c"], last_c[0])


def test_forget_bias():
    cell = Projected(projection=P, forget_bias=2.0)
    cell.build(D, H)
    assert cell.bias_ih is not None and cell.bias_ih.tolist() == [0.0] * H + [2.0] * H + [0.0] * 2 * H
