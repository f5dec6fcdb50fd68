"""Dropout of the recurrence: of the state, one mask for all steps, and of the weights, one mask for a call."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from foresay import parts
from foresay.encode.cells.cell import Cell, stage
from foresay.encode.cells.changed import draw_kept
from foresay.encode.cells.dropped import KEEP, Dropped
from foresay.errors import UserError

B, T, D, H = 2, 5, 3, 7


def build(kind: str, inner: object = "lstm", size: int = H, **settings: object) -> Cell:
    torch.manual_seed(1)
    cell = parts.make("cell", {"kind": kind, "cell": inner, **settings})
    cell.build(D, size)
    return cell.double().train()


def inputs() -> Tensor:
    torch.manual_seed(2)
    return torch.randn(B, T, D, dtype=torch.float64)


def lstm(cell: Cell, x: Tensor, weight: Tensor, keep: Tensor | float) -> Tensor:
    """The LSTM written out, with what enters its recurrent product masked."""
    h = c = torch.zeros(B, cell.size, dtype=torch.float64)
    shown = []
    for t in range(T):
        i, f, g, o = (x[:, t] @ cell.weight_ih.T + cell.bias() + (h * keep) @ weight.T).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        shown.append(h)
    return torch.stack(shown, 1)


def test_one_mask_for_all_steps():
    cell, x = build("dropped", share=0.25), inputs()
    torch.manual_seed(3)
    keep = cell.inputs(x, cell.begin(x), None).vectors[KEEP]
    assert keep.shape == (B, H) and set(keep.unique().tolist()) == {0.0, 1 / 0.75}
    torch.manual_seed(3)
    y, after = cell.run(x, cell.begin(x))
    torch.testing.assert_close(y, lstm(cell.cell, x, cell.cell.weight_hh, keep))
    assert set(after) == {"h", "c"}
    torch.testing.assert_close(after["h"], y[:, -1])


def test_what_the_gru_multiplies_is_masked_and_what_it_keeps_is_not():
    """z, r from k * h; the new value from r * k * h; h' = (1 - z) h + z h~ with h itself."""
    cell, x = build("dropped", "gru", share=0.5), inputs()
    inner, memory = cell.cell, {"h": torch.rand(B, H, dtype=torch.float64)}
    torch.manual_seed(3)
    keep = cell.inputs(x, memory, None).vectors[KEEP]
    torch.manual_seed(3)
    y, h = cell.run(x, memory)[0], memory["h"]
    for t in range(T):
        fed = x[:, t] @ inner.weight_ih.T
        z, r = (fed[:, : 2 * H] + (h * keep) @ inner.weight_hh.T).sigmoid().chunk(2, 1)
        new = (fed[:, 2 * H :] + (r * h * keep) @ inner.weight_rh.T).tanh()
        h = (1 - z) * h + z * new
        torch.testing.assert_close(y[:, t], h)


class Carried(Cell):
    """c' = c / 2 + h + i, which the gate o sees and h' shows: h' = tanh(o) + c'."""

    part_name = "carried"
    states = ("h", "c")
    gates = ("i", "o")

    @stage(i="h")
    def remember(self, i: Tensor, h: Tensor, c: Tensor) -> dict[str, Tensor]:
        return {"c": c / 2 + h + i}

    @stage(o="new_c")
    def show(self, o: Tensor, new_c: Tensor) -> dict[str, Tensor]:
        return {"h": o.tanh() + new_c}


def test_what_is_carried_on_is_not_masked():
    """With all recurrent weights 0 there is nothing to drop: c and h in training are those in evaluation."""
    torch.manual_seed(1)
    cell, x = Dropped(cell=Carried(), share=0.5), inputs()
    cell.build(D, H)
    cell.double()
    for name in ("weight_hh", "weight_new_c"):
        torch.nn.init.zeros_(cell.cell.get_parameter(name))
    memory = {name: torch.rand(B, H, dtype=torch.float64) for name in ("h", "c")}
    one, two = cell.train().trace(x, memory)[0], cell.eval().trace(x, memory)[0]
    torch.testing.assert_close(one, two)


def test_what_is_made_of_h_is_masked_in_the_product_alone():
    torch.manual_seed(1)
    cell, x = Dropped(cell=Carried(), share=0.5).train(), inputs()
    cell.build(D, H)
    inner, h, c = cell.double().cell, torch.zeros(B, H).double(), torch.zeros(B, H).double()
    torch.manual_seed(3)
    found, after = cell.trace(x, cell.begin(x))
    torch.manual_seed(3)
    keep = draw_kept(0.5, (B, H), x) * 2
    assert inner.bias_ih is not None
    for t in range(T):
        i, o = (x[:, t] @ inner.weight_ih.T + inner.bias_ih).chunk(2, 1)
        c = c / 2 + h + i + (h * keep) @ inner.get_parameter("weight_hh").T
        h = (o + (c * keep) @ inner.get_parameter("weight_new_c").T).tanh() + c
        torch.testing.assert_close(found["c"][:, t], c)
        torch.testing.assert_close(found["h"][:, t], h)
    assert set(after) == {"h", "c"}


def test_the_share_is_what_is_dropped():
    cell, x = build("dropped", size=2000, share=0.3), inputs()
    keep = cell.inputs(x, cell.begin(x), None).vectors[KEEP]
    assert (keep == 0).double().mean().item() == pytest.approx(0.3, abs=0.04)
    assert keep.mean().item() == pytest.approx(1.0, abs=0.06)


def test_around_a_shortcut_the_past_is_masked_too():
    cell, x = build("dropped", {"kind": "shortcut", "cell": "elman", "steps": 2}, share=0.5), inputs()
    torch.manual_seed(3)
    keep = cell.inputs(x, cell.begin(x), None).vectors[KEEP]
    torch.manual_seed(3)
    y, after = cell.run(x, cell.begin(x))
    core, far = cell.core, cell.cell.get_parameter("weight_h_2")
    h = [torch.zeros(B, H, dtype=torch.float64)] * 2
    for t in range(T):
        recurrent = (h[-1] * keep) @ core.get_parameter("weight_hh").T + (h[-2] * keep) @ far.T
        h.append((x[:, t] @ core.weight_ih.T + core.bias() + recurrent).tanh())
    torch.testing.assert_close(y, torch.stack(h[2:], 1))
    torch.testing.assert_close(after["past"], torch.stack(h[-2:-1], 1))


def test_weights_are_dropped_once_for_a_call():
    cell, x = build("dropped-weights", share=0.25), inputs()
    torch.manual_seed(3)
    weight = cell.inputs(x, cell.begin(x), None).products["state:h"]
    dropped = weight == 0
    assert 0.1 < dropped.double().mean() < 0.4
    torch.testing.assert_close(weight[~dropped], cell.cell.weight_hh[~dropped] / 0.75)
    torch.manual_seed(3)
    torch.testing.assert_close(cell.run(x, cell.begin(x))[0], lstm(cell.cell, x, weight, 1.0))


def test_dropped_weights_get_no_gradient():
    cell, x = build("dropped-weights", share=0.5), inputs()
    torch.manual_seed(3)
    dropped = cell.inputs(x, cell.begin(x), None).products["state:h"] == 0
    torch.manual_seed(3)
    cell.run(x, cell.begin(x))[0].sum().backward()
    assert (cell.cell.weight_hh.grad[dropped] == 0).all() and (cell.cell.weight_hh.grad[~dropped] != 0).all()


@pytest.mark.parametrize("kind", ["dropped", "dropped-weights"])
def test_only_in_training(kind):
    cell, x = build(kind), inputs()
    y = cell.run(x, cell.begin(x))[0]
    assert not torch.equal(cell.run(x, cell.begin(x))[0], y)
    cell.eval()
    assert torch.equal(cell.run(x, cell.begin(x))[0], cell.cell.run(x, cell.begin(x))[0])
    assert set(cell.trace(x, cell.begin(x))[0]) == {"h", "c", "i", "f", "g", "o"}


def test_training_does_not_take_torchs_function(monkeypatch):
    """Its weights are torch's, its maths is not."""
    monkeypatch.setattr(torch, "lstm", lambda *_: pytest.fail("torch's function was called"))
    for kind in ("dropped", "dropped-weights", "zoneout", "normed", "shortcut"):
        cell = build(kind)
        cell.run(inputs(), cell.begin(inputs()))
        assert {"cell.weight_ih", "cell.weight_hh", "cell.bias_hh"} <= {name for name, _ in cell.named_parameters()}


def test_refusals():
    with pytest.raises(UserError, match="cell dropped is around dropped already"):
        build("dropped", "dropped")
    with pytest.raises(UserError, match="cell dropped around mingru, where no gate sees h"):
        build("dropped", "mingru")
    with pytest.raises(UserError, match="cell='' is no cell"):
        build("dropped", "")
