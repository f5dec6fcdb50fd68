"""The loop rolled up, by hand, with padding; every cell is in tests/contracts/test_cells.py."""

from __future__ import annotations

import pytest
import torch

from foresay.encode.cells.cell import Cell, stage
from foresay.kernels.recurrent import rolled
from foresay.kernels.switch import as_file


class Sum(Cell):
    """h' = (x W) + h"""

    part_name = "sum"
    gates = ("new",)
    biased = False

    @stage(new="")
    def add(self, new, h):
        return {"h": h + new, "seen": new}


@pytest.fixture
def cell():
    made = Sum()
    made.build(1, 1)
    with torch.no_grad():
        made.weight_ih.fill_(2.0)
    return made.eval()


@torch.no_grad()
def test_values_by_hand(cell):
    x = torch.tensor([[[1.0], [2.0], [3.0]], [[5.0], [7.0], [0.0]]])
    mask = torch.tensor([[True, True, True], [True, False, False]])
    with as_file():
        kept, after = cell.trace(x, {"h": torch.tensor([[10.0], [20.0]])}, mask, ("h", "seen"))
    assert kept["h"][..., 0].tolist() == [[12.0, 16.0, 22.0], [30.0, 30.0, 30.0]]
    assert kept["seen"][0, :, 0].tolist() == [2.0, 4.0, 6.0]
    assert after["h"][:, 0].tolist() == [22.0, 30.0]


def test_it_is_what_runs_for_a_file(cell, monkeypatch):
    ran = []
    monkeypatch.setattr(
        "foresay.kernels.recurrent.engine.run_rolled", lambda *given: ran.append(1) or rolled.run_rolled(*given)
    )
    x = torch.ones(1, 2, 1)
    with torch.no_grad():
        cell.run(x, cell.begin(x))
        assert not ran
        with as_file():
            cell.run(x, cell.begin(x))
    assert ran
