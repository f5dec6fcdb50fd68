"""Modifiers in any order around a cell: two chunks equal one run, and no parameter is without gradient."""

from __future__ import annotations

import ast
from itertools import permutations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from foresay import Cell, parts, stage
from foresay.encode.cells.changed import Changed, draw_kept
from foresay.encode.cells.dropped import Dropped
from foresay.encode.cells.normed import Normed
from foresay.encode.cells.shortcut import Shortcut
from foresay.errors import UserError
from foresay.kernels.recurrent import engine
from foresay.kernels.recurrent.fuse import fuse
from foresay.kernels.recurrent.persistent_backwards import Backwards
from foresay.kernels.recurrent.persistent_forwards import Forwards
from foresay.kernels.recurrent.spread import Shape, fits
from foresay.kernels.recurrent.triton_expressions import identifier

B, T, D, H = 2, 5, 3, 7
MODIFIERS = {
    "normed": {},
    "zoneout": {"share": 0.2},
    "dropped": {"share": 0.3},
    "dropped-weights": {"share": 0.2},
    "shortcut": {"steps": 2},
}
pairs = pytest.mark.parametrize(("outer", "inner"), list(permutations(MODIFIERS, 2)))


def build(outer: str, inner: str, core: str) -> Changed:
    torch.manual_seed(1)
    cell = parts.make(
        "cell", {"kind": outer, **MODIFIERS[outer], "cell": {"kind": inner, **MODIFIERS[inner], "cell": core}}
    )
    cell.build(D, H)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return cell.double()


@pytest.mark.parametrize("core", ["lstm", "gru"])
@pairs
def test_any_order(outer, inner, core):
    cell, x = build(outer, inner, core), torch.randn(B, T, D, dtype=torch.float64)
    assert type(cell.core).part_name == core and cell.width == H
    cell.eval()
    whole, end = cell.run(x, cell.begin(x))
    one, memory = cell.run(x[:, :2], cell.begin(x))
    two, memory = cell.run(x[:, 2:], memory)
    torch.testing.assert_close(torch.cat([one, two], 1), whole)
    torch.testing.assert_close(memory, end)
    cell.train().run(x, cell.begin(x))[0].square().sum().backward()
    assert all((parameter.grad != 0).any() for parameter in cell.parameters())


@pairs
def test_the_state_of_the_generator_is_all_that_chance_depends_on(outer, inner):
    cell, x = build(outer, inner, "gru").train(), torch.randn(B, T, D, dtype=torch.float64)
    before = torch.get_rng_state()
    y = cell.run(x, cell.begin(x))[0]
    torch.set_rng_state(before)
    assert torch.equal(cell.run(x, cell.begin(x))[0], y)


def test_maths_says_what_it_is_of():
    assert build("zoneout", "normed", "gru").maths.cell == "zoneout(normed(gru))"


def test_weights_keep_their_names():
    names = {name for name, _ in build("zoneout", "normed", "lstm").named_parameters()}
    assert names == {"cell.gain_ih", "cell.gain_hh"} | {
        f"cell.cell.{name}" for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    }


def test_layers_do_not_share_the_inner_cell():
    """A modifier given as an object is built anew with the cell inside it."""
    cell = parts.make("cell", "zoneout")
    again = parts.anew(cell)
    assert again.cell is not cell.cell and parts.describe(again) == parts.describe(cell)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
def test_the_share_that_is_dropped(share):
    """Within four standard deviations, independent from unit to unit."""
    torch.manual_seed(1)
    kept = draw_kept(share, (101, 997), torch.empty(0, dtype=torch.float64))
    assert kept.dtype == torch.float64 and set(kept.unique().tolist()) <= {0.0, 1.0}
    spread = (share * (1 - share) / kept.numel()) ** 0.5
    assert abs((1 - kept).mean().item() - share) <= 4 * spread + 1 / 65536
    together = ((1 - kept)[:, 1:] * (1 - kept)[:, :-1]).mean().item()
    assert abs(together - share**2) <= 8 * spread + 1 / 65536


# --- cells whose names are those that modifiers might use ---


class Kept(Cell):
    """h' = tanh(a) * keep + h * dropped_keep."""

    part_name = "kept"
    gates = ("a",)
    vectors = ("keep", "dropped_keep")

    def step(self, a, h, keep, dropped_keep):
        return {"h": a.tanh() * keep + h * dropped_keep}


class Shares(Cell):
    """Two gates, of which one has the name of the other's share of h."""

    part_name = "shares"
    gates = ("i", "i_hh")
    vectors = ("gain_i", "bias_i", "gain_i_hh")

    def step(self, i, i_hh, gain_i, bias_i, gain_i_hh):
        return {"h": i.tanh() * gain_i + i_hh * gain_i_hh + bias_i}


class Past(Cell):
    """past' = past / 2 + h,  h' = tanh(a) + past'."""

    part_name = "past"
    states = ("h", "past")
    gates = ("a",)

    def step(self, a, h, past):
        past = past / 2 + h
        return {"h": a.tanh() + past, "past": past}


def ready(cell: Changed, monkeypatch, dtype: torch.dtype) -> tuple[Tensor, list[Tensor]]:
    """The cell with all parameters drawn, in float32 on the fused path; x (B, T, D) and one parameter after another."""
    torch.manual_seed(1)
    cell.build(D, H)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.copy_(torch.randn_like(parameter) / 2)
    if dtype == torch.float32:
        monkeypatch.setattr(engine, "WORTH", 0)
    cell.to(dtype)
    core = cell.core
    names = ["weight_ih", "weight_hh", "bias_ih", *core.vectors]
    return torch.randn(B, T, D, dtype=dtype), [core.get_parameter(name) for name in names]


dtypes = pytest.mark.parametrize("dtype", [torch.float64, torch.float32])


@dtypes
def test_dropped_around_a_vector_called_keep(monkeypatch, dtype):
    cell = Dropped(cell=Kept(), share=0.5)
    x, (w, u, b, keep, other) = ready(cell, monkeypatch, dtype)
    torch.manual_seed(2)
    y, _ = cell.run(x, cell.begin(x))
    torch.manual_seed(2)
    drawn = draw_kept(0.5, (B, H), x) * 2
    h = x.new_zeros(B, H)
    for t in range(T):
        h = (x[:, t] @ w.T + b + (h * drawn) @ u.T).tanh() * keep + h * other
        torch.testing.assert_close(y[:, t], h)
    y.sum().backward()
    assert all((parameter.grad != 0).any() for parameter in cell.parameters())


@dtypes
def test_normed_around_a_gate_called_like_a_share(monkeypatch, dtype):
    cell = Normed(cell=Shares())
    x, (w, u, b, gain_i, bias_i, gain_i_hh) = ready(cell, monkeypatch, dtype)
    y, _ = cell.run(x, cell.begin(x))
    h = x.new_zeros(B, H)
    for t in range(T):
        products = [F.layer_norm(p, (H,)) for a in (x[:, t] @ w.T, h @ u.T) for p in a.chunk(2, 1)]
        gains = [*cell.gain_ih.chunk(2), *cell.get_parameter("gain_hh").chunk(2)]
        xi, xj, hi, hj = (product * gain for product, gain in zip(products, gains, strict=True))
        h = (xi + hi + b[:H]).tanh() * gain_i + (xj + hj + b[H:]) * gain_i_hh + bias_i
        torch.testing.assert_close(y[:, t], h)


@dtypes
def test_shortcut_around_a_state_called_past(monkeypatch, dtype):
    cell = Shortcut(cell=Past(), steps=3)
    x, (w, u, b) = ready(cell, monkeypatch, dtype)
    first, memory = cell.run(x[:, :2], cell.begin(x))
    assert {name: state.shape for name, state in memory.items()} == {"h": (B, H), "past": (B, H), "past__h": (B, 2, H)}
    y = torch.cat([first, cell.run(x[:, 2:], memory)[0]], 1)
    h, past = [x.new_zeros(B, H)] * 3, x.new_zeros(B, H)
    for t in range(T):
        past = past / 2 + h[-1]
        a = x[:, t] @ w.T + b + h[-1] @ u.T + h[-3] @ cell.get_parameter("weight_h_3").T
        h.append(a.tanh() + past)
        torch.testing.assert_close(y[:, t], h[-1])


@pytest.mark.parametrize(
    "make", [lambda: Dropped(cell=Kept()), lambda: Normed(cell=Shares()), lambda: Shortcut(cell=Past(), steps=2)]
)
def test_a_gpus_kernels_tell_the_names_apart(make):
    """They write every key in letters, digits and underscores."""
    cell = make()
    cell.build(16, 16)
    fused = fuse(cell.maths, training=True)
    for kernel in (*fused.forwards, *fused.backwards):
        loads = {key for part in kernel.parts for key in part.loads}
        for keys in (set(kernel.arrays), loads):
            assert len({identifier(key) for key in keys}) == len(keys)
    if fits(fused):
        for kind in (Forwards, Backwards):
            writer = kind(fused, Shape(8, 4, 1024), masked=True)
            (function,) = ast.parse("\n".join(writer.lines())).body
            assert isinstance(function, ast.FunctionDef)
            names = [argument.arg for argument in function.args.args]
            assert len(names) == len(set(names))


def test_gains_of_one_name_are_refused():
    class Far(Cell):
        part_name = "far"
        states = ("h", "h_2")
        gates = ("a",)

        @stage(a="h h_2")
        def step(self, a, h):
            return {"h": a, "h_2": h}

    cell = Normed(cell=Shortcut(cell=Far(), steps=2))
    with pytest.raises(
        UserError, match=r"^cell normed around .*: gain_h_2 is that of h_2 and of h@2; give h_2 another"
    ):
        cell.build(D, H)


def test_own_values_of_a_modifier_are_not_shown():
    cell = build("zoneout", "dropped", "gru").train()
    x = torch.randn(B, T, D, dtype=torch.float64)
    assert set(cell.trace(x, cell.begin(x))[0]) == {"h", "z", "r", "rh", "n"}


def test_names_of_gains_around_dropped():
    """As they have been saved."""
    names = {name for name, _ in build("normed", "dropped", "gru").named_parameters() if "gain" in name}
    assert names == {"gain_ih", "gain_h_kept", "gain_rh"}
