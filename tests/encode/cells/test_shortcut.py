"""Time shortcuts: two steps in numpy, a longer run against a plain loop, and what is carried between chunks."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from foresay import parts
from foresay.encode.cells.elman import Elman
from foresay.encode.cells.lstm import LSTM
from foresay.encode.cells.shortcut import Shortcut
from foresay.errors import UserError
from tests.encode.cells.worked import H0, X, matrix, vector

B, T, D, H = 2, 9, 3, 5


def test_two_steps():
    """Elman with s = 2: h_1 = tanh(W x_1 + U h_0 + V h_{-1} + b), h_2 = tanh(W x_2 + U h_1 + V h_0 + b)."""
    w, u, v, b, earlier = matrix(1), matrix(2), matrix(3), vector(4), vector(5)
    first = np.tanh(w @ X[0] + u @ H0 + v @ earlier + b)
    second = np.tanh(w @ X[1] + u @ first + v @ H0 + b)
    cell = Shortcut(cell=Elman(), steps=2)
    cell.build(2, 2)
    weights = {"cell.weight_ih": w, "cell.weight_hh": u, "cell.bias_ih": b, "cell.bias_hh": 0 * b, "weight_h_2": v}
    cell.double().load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
    memory = {"h": torch.from_numpy(H0)[None], "past": torch.from_numpy(earlier)[None, None]}
    y, after = cell.run(torch.from_numpy(X)[None], memory)
    np.testing.assert_allclose(y[0].detach(), [first, second], rtol=1e-12)
    np.testing.assert_allclose(after["h"][0].detach(), second, rtol=1e-12)
    np.testing.assert_allclose(after["past"][0].detach(), [first], rtol=1e-12)


def build(steps: int, inner: object = "lstm") -> Shortcut:
    torch.manual_seed(1)
    cell = parts.make("cell", {"kind": "shortcut", "cell": inner, "steps": steps})
    cell.build(D, H)
    return cell.double()


def loop(cell: Shortcut, x: Tensor) -> Tensor:
    """An LSTM whose four gates see h_{t-1} and h_{t-s}, written out."""
    inner = cell.cell
    assert isinstance(inner, LSTM)
    h, c = [torch.zeros(B, H, dtype=torch.float64)] * cell.steps, torch.zeros(B, H, dtype=torch.float64)
    shown = []
    far = cell.get_parameter(f"weight_h_{cell.steps}")
    for t in range(x.shape[1]):
        gates = x[:, t] @ inner.weight_ih.T + inner.bias() + h[-1] @ inner.weight_hh.T + h[-cell.steps] @ far.T
        i, f, g, o = gates.chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h.append(o.sigmoid() * c.tanh())
        shown.append(h[-1])
    return torch.stack(shown, 1)


@pytest.mark.parametrize("steps", [2, 4, 20])
def test_equals_a_plain_loop(steps):
    cell, x = build(steps), torch.randn(B, T, D, dtype=torch.float64)
    y, after = cell.run(x, cell.begin(x))
    torch.testing.assert_close(y, loop(cell, x))
    known = torch.cat([torch.zeros(B, max(steps - T, 0), H, dtype=torch.float64), y], 1)
    torch.testing.assert_close(after["past"], known[:, -steps:-1])


def test_padding_keeps_the_past_of_the_last_real_steps():
    cell, x = build(3), torch.randn(B, T, D, dtype=torch.float64)
    mask = torch.arange(T) < torch.tensor([[9], [4]])
    after = cell.run(x, cell.begin(x), mask)[1]
    alone = cell.run(x[1:, :4], cell.begin(x[1:]))[1]
    for name in after:
        torch.testing.assert_close(after[name][1:], alone[name])


def test_only_gates_that_see_h_see_the_past():
    """The GRU's new value sees r * h alone; z and r have the shortcut."""
    assert build(2, "gru").get_parameter("weight_h_2").shape == (2 * H, H)


def test_shortcuts_nest():
    inner = {"kind": "shortcut", "cell": "elman", "steps": 5}
    cell, x = build(2, inner), torch.randn(B, T, D, dtype=torch.float64)
    assert cell.begin(x)["past"].shape == (B, 4, H)
    core, middle = cell.core, cell.cell
    near, far = cell.get_parameter("weight_h_2"), middle.get_parameter("weight_h_5")
    h = [torch.zeros(B, H, dtype=torch.float64)] * 5
    for t in range(T):
        a = x[:, t] @ core.weight_ih.T + h[-1] @ core.get_parameter("weight_hh").T + h[-2] @ near.T + h[-5] @ far.T
        h.append(a.tanh())
    torch.testing.assert_close(cell.run(x, cell.begin(x))[0], torch.stack(h[5:], 1))


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ({"steps": 1}, "steps=1; allowed: an integer >= 2"),
        ({"cell": {"kind": "shortcut", "steps": 4}, "steps": 4}, "steps=4 twice, one around the other"),
        ({"cell": "mingru"}, "cell shortcut around mingru, where no gate sees h"),
        ({"cell": None}, "cell=None; allowed: a name"),
    ],
)
def test_refusals(recipe, message):
    with pytest.raises(UserError, match=message):
        parts.make("cell", {"kind": "shortcut", **recipe}).build(D, H)
