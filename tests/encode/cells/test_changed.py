"""Modifiers in any order around a cell: two chunks equal one run, and no parameter is without gradient."""

from __future__ import annotations

from itertools import permutations

import pytest
import torch

from foresay import parts
from foresay.encode.cells.changed import Changed, draw_kept

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
