"""Products of few rows on a CPU against float64, and against themselves in other company."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from foresay.kernels import thin
from foresay.kernels.thin import linear, product


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 16])
@pytest.mark.parametrize(("width", "outs"), [(16, 1), (48, 31), (128, 514)])
@pytest.mark.parametrize("threads", [1, 2])
def test_values(rows, width, outs, threads, monkeypatch):
    monkeypatch.setattr(thin, "LEAST", 0)
    monkeypatch.setattr(thin, "WORTH", 0)
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    generator = torch.Generator().manual_seed(1)
    x, w, b = (torch.randn(*shape, generator=generator) for shape in ((rows, width), (outs, width), (outs,)))
    with torch.no_grad():
        for bias in (b, None):
            exact = F.linear(x.double(), w.double(), None if bias is None else bias.double())
            torch.testing.assert_close(product(x, w, bias).double(), exact, rtol=1e-5, atol=1e-5)
        for row in range(rows):  # the same to the last bit, alone and beside others
            assert torch.equal(product(x[row : row + 1], w, b)[0], product(x, w, b)[row])


def test_shapes_and_what_it_leaves_to_torch(monkeypatch):
    taken = []
    monkeypatch.setattr(thin, "_loops", lambda loops=thin._loops: taken.append(1) or loops())
    layer, x = nn.Linear(160, 112), torch.randn(2, 3, 160)
    with torch.no_grad():
        torch.testing.assert_close(linear(layer, x), layer(x), rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(linear(layer, x[:, ::2]), layer(x[:, ::2]), rtol=1e-5, atol=1e-5)
        assert len(taken) == 2
        wide = nn.Linear(161, 112)
        for other, given in (
            (layer.double(), x.double()),
            (wide, torch.randn(2, 161)),
            (wide, torch.randn(0, 161)),
            (nn.Linear(160, 112), torch.randn(100, 160)),
        ):
            assert torch.equal(linear(other, given), other(given))
    layer = layer.float()
    linear(layer, x).sum().backward()
    assert layer.weight.grad is not None and len(taken) == 2
