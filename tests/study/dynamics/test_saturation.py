"""Shares at the ends by hand, and the ends of every cell's values."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from foresay.encode.cells.cell import Cell
from foresay.parts import make
from foresay.study.dynamics.saturation import ends_of, saturated


def built(given: Any) -> Cell:
    torch.manual_seed(1)
    cell: Cell = make("cell", given)
    cell.build(3, 8)
    return cell


@pytest.mark.parametrize(
    ("given", "ends"),
    [
        ("elman", {"h": "value"}),
        ({"kind": "elman", "activation": "sigmoid"}, {"h": "gate"}),
        ({"kind": "elman", "activation": "relu"}, {"h": "positive"}),
        ({"kind": "elman", "activation": "identity"}, {}),
        ("lstm", {"i": "gate", "f": "gate", "g": "value", "o": "gate", "h": "value"}),
        ("gru", {"z": "gate", "r": "gate", "rh": "value", "n": "value", "h": "value"}),
        ("additive", {"d": "value"}),
        ({"kind": "normed", "cell": "lstm"}, {"i": "gate", "f": "gate", "g": "value", "o": "gate", "h": "value"}),
        ("slstm", {"forget": "gate", "admit": "gate", "z": "value", "o": "gate"}),
    ],
)
def test_ends_are_found(given, ends):
    cell = built(given).train()
    found = ends_of(cell)
    assert ends.items() <= found.items() and cell.training
    assert found == ends or given == "slstm"  # whose n is positive


def test_shares_by_hand():
    """Two steps of two rows, three units; the last step of the second row is padding."""
    v = torch.tensor([[[0.05, 0.5, 0.95], [0.05, 0.95, 0.95]], [[0.5, 0.5, 0.95], [0.0, 0.0, 0.0]]])
    mask = torch.tensor([[True, True], [True, False]])
    gate = saturated(v, "gate", mask)
    assert gate.lower.tolist() == pytest.approx([2 / 3, 0, 0]) and gate.upper.tolist() == pytest.approx([0, 1 / 3, 1])
    value = saturated(torch.tensor([[[-0.95, 0.0], [0.95, -0.05]]]), "value")
    assert value.lower.tolist() == [0.5, 0] and value.upper.tolist() == [0.5, 0]
    dead = saturated(torch.tensor([[[0.0, 2.0], [0.0, 0.0]]]), "positive")
    about = dead.as_dict()
    assert about.pop("spread") == {"from": 0.0, "to": 2.0, "shares": [0.75, *[0.0] * 38, 0.25]}
    assert about == {"kind": "positive", "zero": 0.75, "units": {"zero": [1.0, 0.5]}}


def test_spread_by_hand():
    """Pieces of 0.025 of a gate and of 0.05 of a value; padding does not count."""
    gate = saturated(torch.tensor([[[0.0, 1.0], [0.51, 0.3], [0.7, 0.7]]]), "gate", torch.tensor([[True, True, False]]))
    assert {n: share for n, share in enumerate(gate.spread.tolist()) if share} == dict.fromkeys((0, 12, 20, 39), 0.25)
    value = saturated(torch.tensor([[[-1.0, 0.01, 0.99, 1.0]]]), "value")
    assert {n: share for n, share in enumerate(value.spread.tolist()) if share} == {0: 0.25, 20: 0.25, 39: 0.5}
    assert (value.low, value.high, gate.low, gate.high) == (-1.0, 1.0, 0.0, 1.0)
