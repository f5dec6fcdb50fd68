"""Layer norm around cells against torch.nn.functional.layer_norm in a plain loop."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from foresay import parts
from foresay.encode.cells.cell import Cell
from foresay.errors import UserError

B, T, D, H = 2, 4, 3, 5


def build(inner: object, **settings: object) -> Cell:
    torch.manual_seed(1)
    cell = parts.make("cell", {"kind": "normed", "cell": inner, **settings})
    cell.build(D, H)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return cell.double()


def norm(a: Tensor, gain: Tensor, epsilon: float = 1e-5) -> Tensor:
    """Each gate's H columns apart."""
    return torch.cat([F.layer_norm(part, (H,), eps=epsilon) for part in a.split(H, 1)], 1) * gain


@pytest.mark.parametrize("epsilon", [1e-5, 0.1])
def test_lstm(epsilon):
    cell, x = build("lstm", epsilon=epsilon), torch.randn(B, T, D, dtype=torch.float64)
    inner = cell.cell
    h, c = torch.randn(B, H, dtype=torch.float64), torch.randn(B, H, dtype=torch.float64)
    y, after = cell.run(x, {"h": h, "c": c})
    for t in range(T):
        gates = norm(x[:, t] @ inner.weight_ih.T, cell.gain_ih, epsilon) + norm(
            h @ inner.weight_hh.T, cell.gain_hh, epsilon
        )
        i, f, g, o = (gates + inner.bias_ih + inner.bias_hh).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        torch.testing.assert_close(y[:, t], h)
    torch.testing.assert_close(after["c"], c)


def test_gru():
    """Three products: x W, h U for z and r, (r h) U for the new value; no biases."""
    cell, x = build("gru"), torch.randn(B, T, D, dtype=torch.float64)
    inner, h = cell.cell, torch.randn(B, H, dtype=torch.float64)
    y, _ = cell.run(x, {"h": h})
    for t in range(T):
        fed = norm(x[:, t] @ inner.weight_ih.T, cell.gain_ih)
        z, r = (fed[:, : 2 * H] + norm(h @ inner.weight_hh.T, cell.gain_hh)).sigmoid().chunk(2, 1)
        new = (fed[:, 2 * H :] + norm((r * h) @ inner.weight_rh.T, cell.gain_rh)).tanh()
        h = (1 - z) * h + z * new
        torch.testing.assert_close(y[:, t], h)


def test_peephole():
    """A gate that sees h and c has a norm for each."""
    cell, x = build("peephole"), torch.randn(B, 1, D, dtype=torch.float64)
    inner = cell.cell
    h, c = torch.randn(B, H, dtype=torch.float64), torch.randn(B, H, dtype=torch.float64)
    y, after = cell.run(x, {"h": h, "c": c})
    seen = norm(x[:, 0] @ inner.weight_ih.T, cell.gain_ih) + norm(h @ inner.weight_hh.T, cell.gain_hh) + inner.bias_ih
    i, f = (seen[:, : 2 * H] + norm(c @ inner.weight_c.T, cell.gain_c)).sigmoid().chunk(2, 1)
    c = f * c + i * seen[:, 2 * H : 3 * H].tanh()
    o = (seen[:, 3 * H :] + norm(c @ inner.weight_new_c.T, cell.gain_new_c)).sigmoid()
    torch.testing.assert_close(after["c"], c)
    torch.testing.assert_close(y[:, 0], o * c.tanh())


def test_inputs_may_be_scaled():
    """Ten times the input is the same input to a normed gate, up to epsilon."""
    cell, x = build("lstm"), torch.randn(B, T, D, dtype=torch.float64)
    torch.testing.assert_close(cell.run(10 * x, cell.begin(x))[0], cell.run(x, cell.begin(x))[0], rtol=1e-3, atol=1e-3)


def test_gains_begin_at_one_and_the_forget_bias_stays():
    cell = parts.make("cell", {"kind": "normed", "cell": {"kind": "lstm", "forget_bias": 2.0}})
    cell.build(D, H)
    assert (cell.gain_ih == 1).all() and (cell.gain_hh == 1).all() and len(cell.gain_hh) == 4 * H
    assert (cell.cell.bias_ih[H : 2 * H] == 2).all()
    zeros = torch.zeros(B, 1, D)
    assert torch.allclose(cell.trace(zeros, cell.begin(zeros))[0]["f"], torch.tensor(2.0).sigmoid())


def test_twice_is_refused():
    with pytest.raises(UserError, match="cell normed is around normed already"):
        build({"kind": "zoneout", "cell": "normed"})
