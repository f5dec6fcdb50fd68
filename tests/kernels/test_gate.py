"""WaveNet's gate on a CPU against torch's functions in float64."""

from __future__ import annotations

import pytest
import torch

from foresay.kernels import gate
from foresay.kernels.switch import compiles


def plainly(x: torch.Tensor) -> torch.Tensor:
    a, g = x.chunk(2, -1)
    return a.tanh() * g.sigmoid()


@pytest.mark.skipif(not compiles(), reason="nothing is compiled")
@pytest.mark.parametrize("threads", [1, 2])
def test_equals_float64(threads, monkeypatch):
    monkeypatch.setattr(gate, "LEAST", 0)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        ends = torch.tensor([0.0, 1e-6, -1e-6, 30.0, -30.0, 200.0, -200.0, torch.inf, -torch.inf])
        x = torch.cat([torch.linspace(-9, 9, 8 * 64 - 9), ends])[torch.randperm(8 * 64)]
        x = x.view(2, 4, 64).requires_grad_()
        z, change = gate.gated(x), torch.linspace(-1, 1, 8 * 32).view(2, 4, 32)
        assert "_Gated" in str(z.grad_fn)
        (gradient,) = torch.autograd.grad(z, x, change)
    finally:
        torch.set_num_threads(before)
    exact = x.detach().double().requires_grad_()
    (due,) = torch.autograd.grad(plainly(exact), exact, change.double())
    torch.testing.assert_close(z.double(), plainly(exact), atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(gradient.double(), due, atol=2e-6, rtol=2e-6)


@pytest.mark.skipif(not compiles(), reason="nothing is compiled")
@pytest.mark.parametrize("place", [3, 20])
def test_what_is_no_number_stays_none(place, monkeypatch):
    monkeypatch.setattr(gate, "LEAST", 0)
    x = torch.zeros(2, 32)
    x[1, place] = torch.nan
    z = gate.gated(x.requires_grad_())
    (gradient,) = torch.autograd.grad(z.sum(), x)
    assert z.isnan().nonzero().tolist() == [[1, place % 16]]
    assert gradient.isnan().nonzero().tolist() == [[1, place % 16], [1, 16 + place % 16]]


def test_elsewhere_it_is_torchs(monkeypatch):
    monkeypatch.setattr(gate, "LEAST", 0)
    for x in (torch.randn(3, 10), torch.randn(3, 32, dtype=torch.float64), torch.randn(64, 3).t()[:, :32]):
        assert torch.equal(gate.gated(x), plainly(x))
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    x = torch.randn(3, 32)
    assert torch.equal(gate.gated(x), plainly(x))
