"""Gradients through time against Jacobians multiplied by hand and torch's own cells."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from foresay.encode.recurrent import Recurrent
from foresay.errors import UserError
from foresay.parts import make, names
from foresay.study.dynamics.gradient import fall, profile, step_through

CELLS = names("cell")


def encoder(cell: Any, **more: Any) -> Recurrent:
    settings = {"projection": 4} if cell == "lstm-projected" else {}
    torch.manual_seed(2)
    found = Recurrent(cell=make("cell", {"kind": cell} | settings if isinstance(cell, str) else cell), size=6, **more)
    found.build(3)
    return found.eval()


@pytest.mark.parametrize("cell", CELLS)
def test_stepping_gives_the_encoders_own_features(cell: str):
    own, x = encoder(cell, layers=2).double(), torch.randn(2, 6, 3).double()
    _, features = step_through(own, x.split(1, 1))
    torch.testing.assert_close(features, own(x)[0][:, -1], atol=1e-6, rtol=1e-6)


def test_elman_is_a_product_of_jacobians():
    """dL/dh_{t-d} = pull prod diag(1 - h^2) W, with h of the plain formula."""
    own, x, pull = encoder("elman"), torch.randn(1, 8, 3), torch.randn(6).double()
    found = profile(own, x, lambda y: (y * pull).sum(), 5)
    cell: Any = own.forwards[0]
    weights = [one.detach().double() for one in (cell.weight_ih, cell.weight_hh, cell.bias())]
    h, seen = torch.zeros(6).double(), []
    for step in x[0].double():
        h = torch.tanh(weights[0] @ step + weights[1] @ h + weights[2])
        seen.append(h)
    expected, error = [], pull
    for h in reversed(seen[2:]):
        expected.append(float(error.norm()))
        error = error @ (torch.diag(1 - h**2) @ weights[1])
    assert found["0.h"] == pytest.approx(expected, rel=1e-9) and len(expected) == 6


def test_an_lstm_is_torchs_own_cell_begun_anew():
    """The state after step t - d as a leaf of torch.nn.LSTMCell, run on to the end."""
    own, x, pull = encoder("lstm"), torch.randn(2, 7, 3).double(), torch.randn(2, 6).double()
    found = profile(own, x, lambda y: (y * pull).sum(), 6)
    peer = torch.nn.LSTMCell(3, 6).double()
    peer.load_state_dict({name: value.double() for name, value in own.forwards[0].state_dict().items()})
    for d in range(1, 7):
        h = c = torch.zeros(2, 6).double()
        for t in range(7):
            h, c = peer(x[:, t], (h, c))
            if t == 6 - d:
                h, c = leaves = [one.detach().requires_grad_() for one in (h, c)]
        for name, grad in zip("hc", torch.autograd.grad((h * pull).sum(), leaves), strict=True):
            assert found[f"0.{name}"][d] == pytest.approx(float(grad.square().sum().div(2).sqrt()), rel=1e-5)


def test_inputs_of_a_stack_by_autograd():
    """What x_{t-d} says, through both layers and the residual."""
    own, x = encoder("gru", layers=2, between={"wiring": "residual"}), torch.randn(3, 5, 3)
    found = profile(own, x, lambda y: y.square().sum())
    leaf = x.double().requires_grad_()
    (grad,) = torch.autograd.grad(own.double()(leaf)[0][:, -1].square().sum(), leaf)
    expected = grad.square().sum((0, 2)).div(3).sqrt().flip(0)
    assert found["x"] == pytest.approx(expected.tolist(), rel=1e-9) and set(found) == {"x", "0.h", "1.h"}


def test_the_run_is_left_as_it_was():
    own = encoder("lstm", dropout=0.5).train()
    profile(own, torch.randn(1, 4, 3), lambda y: y.sum())
    assert own.training and next(own.parameters()).dtype == torch.float32
    assert all(one.grad is None for one in own.parameters())


def test_both_ways_are_refused():
    with pytest.raises(UserError, match="encoder reads both ways"):
        profile(encoder("lstm", bidirectional=True), torch.randn(1, 4, 3), lambda y: y.sum())


def test_falls_by_hand():
    line = fall([8.0, 4.0, 2.0, 1.0])
    assert line.slope == pytest.approx(-math.log(2)) and line.half_life == pytest.approx(1) and line.r_squared == 1
    assert fall([1.0, 1.0, 1.0]).half_life == math.inf
    bent = fall([math.exp(one) for one in (0.0, 1.0, 0.0)])
    assert bent.slope == pytest.approx(0) and bent.r_squared == pytest.approx(0)
    assert fall([0.0, 0.0]).half_life == pytest.approx(0)
