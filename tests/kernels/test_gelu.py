"""GELU with tanh on a CPU against torch's in float64."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from foresay.kernels import gelu
from foresay.kernels.switch import compiles


@pytest.mark.skipif(not compiles(), reason="nothing is compiled")
@pytest.mark.parametrize("threads", [1, 2])
def test_equals_float64(threads, monkeypatch):
    monkeypatch.setattr(gelu, "LEAST", 0)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        x = torch.cat([torch.linspace(-9, 9, 2000), torch.tensor([0.0, 80.0, -80.0] * 16)]).requires_grad_()
        y = gelu.gelu_tanh(x)
        assert "_Gelu" in str(y.grad_fn)
        change = torch.linspace(-1, 1, len(x))
        (gradient,) = torch.autograd.grad(y, x, change)
    finally:
        torch.set_num_threads(before)
    exact = x.detach().double().requires_grad_()
    expected = F.gelu(exact, approximate="tanh")
    (due,) = torch.autograd.grad(expected, exact, change.double())
    torch.testing.assert_close(y.double(), expected, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(gradient.double(), due, atol=2e-6, rtol=2e-6)


@pytest.mark.skipif(not compiles(), reason="nothing is compiled")
def test_what_is_no_number_stays_none(monkeypatch):
    monkeypatch.setattr(gelu, "LEAST", 0)
    x = torch.zeros(32)
    x[5] = torch.nan
    x.requires_grad_()
    y = gelu.gelu_tanh(x)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    assert y.isnan().nonzero().flatten().tolist() == gradient.isnan().nonzero().flatten().tolist() == [5]


def test_elsewhere_it_is_torchs(monkeypatch):
    monkeypatch.setattr(gelu, "LEAST", 0)
    x = torch.randn(7, requires_grad=True)
    assert torch.equal(gelu.gelu_tanh(x), F.gelu(x, approximate="tanh"))
    whole = torch.randn(32)
    assert torch.equal(gelu.gelu_tanh(whole), F.gelu(whole, approximate="tanh"))
