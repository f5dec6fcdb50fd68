"""The Monte-Carlo gradient: its mean is the softmax's own, its variance falls as 1/S."""

from __future__ import annotations

import math

import pytest
import torch

from foresay.output.monte_carlo import MonteCarlo
from foresay.output.softmax import Softmax

V, H, N = 11, 5, 6


def pair(number: int) -> tuple[MonteCarlo, Softmax, torch.Tensor, torch.Tensor]:
    torch.manual_seed(1)
    estimated, exact = MonteCarlo(number=number), Softmax()
    for output in (estimated, exact):
        output.build(H, V)
        output.double()
    exact.load_state_dict(estimated.state_dict())
    return estimated, exact, torch.randn(N, H, dtype=torch.float64), torch.randint(0, V, (N,))


def gradient(output: torch.nn.Module, h: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    h = h.clone().requires_grad_()
    found = torch.autograd.grad(output.loss(h, targets), [h, *output.parameters()])
    return torch.cat([one.flatten() for one in found])


def test_the_loss_is_the_exact_one():
    estimated, exact, h, targets = pair(3)
    assert estimated.loss(h, targets).item() == pytest.approx(exact.loss(h, targets).item(), abs=1e-12)


def test_no_bias():
    """Each entry's mean over 600 estimates lies within 4.5 standard errors of the exact gradient."""
    estimated, exact, h, targets = pair(4)
    found = torch.stack([gradient(estimated, h, targets) for _ in range(600)])
    errors = (found.mean(0) - gradient(exact, h, targets)) / (found.std(0) / math.sqrt(len(found))).clamp(min=1e-12)
    assert errors.abs().max() < 4.5 and errors.abs().mean() > 0.3  # it is an estimate, not the thing itself


def test_the_variance_falls_as_one_over_s():
    spread = {}
    for number in (2, 8, 32):
        estimated, _, h, targets = pair(number)
        spread[number] = torch.stack([gradient(estimated, h, targets) for _ in range(500)]).var(0).sum().item()
    assert spread[2] / spread[8] == pytest.approx(4, rel=0.2)
    assert spread[8] / spread[32] == pytest.approx(4, rel=0.2)
