"""The highway layer against a case worked by hand."""

from __future__ import annotations

import math

import torch

from foresay.embed.highway import Highway


def test_worked_by_hand():
    """Two units: x = (2, -1), Wh = ((1, 0), (1, 3)), bh = (0, 1); gates of log 3 and 0: t = (3/4, 1/2)."""
    layer = Highway(2)
    with torch.no_grad():
        layer.change.weight.copy_(torch.tensor([[1.0, 1.0], [0.0, 3.0]]))  # torch keeps W transposed
        layer.change.bias.copy_(torch.tensor([0.0, 1.0]))
        layer.gate.weight.zero_()
        layer.gate.bias.copy_(torch.tensor([math.log(3.0), 0.0]))
    # x Wh + bh = (2 - 1, -3 + 1) = (1, -2); relu (1, 0); y = (3/4 + 1/4 * 2, 0 + 1/2 * -1)
    torch.testing.assert_close(layer(torch.tensor([2.0, -1.0])), torch.tensor([1.25, -0.5]))


def test_begins_by_letting_most_pass():
    layer = Highway(50)
    assert (layer.gate.bias == -1.0).all()
    x = torch.randn(200, 50)
    share = 1 - layer.gate(x).sigmoid().mean().item()
    assert 0.65 < share < 0.8  # 1 - sigmoid(-1) = 0.73
