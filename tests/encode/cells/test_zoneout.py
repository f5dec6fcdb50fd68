"""Zoneout: the expectation in evaluation, whole units kept in training, each state with its own share."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from foresay import parts
from foresay.encode.cells.cell import Cell
from foresay.encode.cells.dropped import KEEP
from foresay.errors import UserError

B, T, D, H = 2, 5, 3, 7


def build(inner: object = "lstm", size: int = H, **settings: object) -> Cell:
    torch.manual_seed(1)
    cell = parts.make("cell", {"kind": "zoneout", "cell": inner, **settings})
    cell.build(D, size)
    return cell.double()


def inputs(rows: int = B, steps: int = T) -> Tensor:
    torch.manual_seed(2)
    return torch.randn(rows, steps, D, dtype=torch.float64)


def test_evaluation_is_the_expectation():
    """c' = 0.3 c + 0.7 (f c + i g); h' = 0.1 h + 0.9 o tanh(f c + i g), the new memory before zoneout."""
    cell, x = build(share=0.1, memory=0.3).eval(), inputs()
    inner = cell.cell
    h = c = torch.zeros(B, H, dtype=torch.float64)
    y, after = cell.run(x, cell.begin(x))
    for t in range(T):
        i, f, g, o = (x[:, t] @ inner.weight_ih.T + inner.bias() + h @ inner.weight_hh.T).chunk(4, 1)
        new = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h, c = 0.1 * h + 0.9 * o.sigmoid() * new.tanh(), 0.3 * c + 0.7 * new
        torch.testing.assert_close(y[:, t], h)
    torch.testing.assert_close(after["c"], c)


def test_in_training_a_share_of_the_units_stays():
    cell, x = build(size=400, share=0.2, memory=0.6).train(), inputs()
    found, _ = cell.trace(x, cell.begin(x))
    for name, share in (("h", 0.2), ("c", 0.6)):
        stayed = found[name][:, 1:] == found[name][:, :-1]
        assert stayed.double().mean().item() == pytest.approx(share, abs=0.05)
        assert not torch.equal(stayed[:, 0], stayed[:, 1])  # other units in every step


def test_what_changes_in_training_is_the_cells_own_step():
    cell, x = build(size=50).train(), inputs(steps=1)
    memory = {name: torch.rand_like(zero) for name, zero in cell.begin(x).items()}
    y = cell.run(x, memory)[0][:, 0]
    own = cell.cell.run(x, memory)[0][:, 0]
    kept = y == memory["h"]
    assert kept.any() and not kept.all()
    torch.testing.assert_close(y[~kept], own[~kept])


def test_states_that_belong_together_stay_together():
    """c, n and m of the sLSTM: kept in the same units."""
    cell, x = build("slstm", size=200, share=0.0, memory=0.5).train(), inputs()
    found, _ = cell.trace(x, cell.begin(x))
    stayed = {name: found[name][:, 2:] == found[name][:, 1:-1] for name in ("c", "n", "m")}
    assert torch.equal(stayed["c"], stayed["n"]) and torch.equal(stayed["c"], stayed["m"])
    assert 0.3 < stayed["c"].double().mean() < 0.7


def test_the_same_seed_draws_the_same():
    cell, x = build().train(), inputs()
    torch.manual_seed(5)
    one, other = cell.run(x, cell.begin(x))[0], cell.run(x, cell.begin(x))[0]
    torch.manual_seed(5)
    assert torch.equal(cell.run(x, cell.begin(x))[0], one) and not torch.equal(one, other)


def test_around_dropped_the_masked_state_is_kept_too():
    """With all of dropout's mask at work, a unit that zones out shows its old value to the next product as well."""
    cell, x = build({"kind": "dropped", "cell": "elman", "share": 0.5}, size=40, share=0.5).train(), inputs()
    torch.manual_seed(7)
    given = cell.inputs(x, cell.begin(x), None)
    keep, noise = given.vectors[KEEP], given.steps["noise:zone_h"]
    torch.manual_seed(7)
    y, _ = cell.run(x, cell.begin(x))
    core, h = cell.core, torch.zeros(B, 40, dtype=torch.float64)
    for t in range(T):
        new = (x[:, t] @ core.weight_ih.T + core.bias() + (h * keep) @ core.get_parameter("weight_hh").T).tanh()
        h = torch.where(noise[t] == 1, new, h)
        torch.testing.assert_close(y[:, t], h)


def test_a_cell_is_needed():
    with pytest.raises(UserError, match="cell=None; allowed: a name"):
        parts.make("cell", {"kind": "zoneout", "cell": None})
    with pytest.raises(UserError, match=r"share=1\.5; allowed: a number >= 0 and < 1"):
        parts.make("cell", {"kind": "zoneout", "share": 1.5})


def test_twice_is_refused():
    with pytest.raises(UserError, match=r"^cell zoneout is around zoneout already; allowed: one of them, with"):
        parts.make("cell", {"kind": "zoneout", "cell": {"kind": "normed", "cell": "zoneout"}})
