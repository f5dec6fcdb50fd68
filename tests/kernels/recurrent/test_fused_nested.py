"""Modifiers around cells of several stages, and around each other, on the fused path against the plain loop in float64.

Tolerance: 1e-5 of a tensor's norm, in float32: nine steps through two norms leave the plain loop itself 5e-6 off, the
fused one 4.4e-6.
"""

from __future__ import annotations

import pytest
import torch

from foresay import parts
from foresay.kernels.recurrent import engine
from foresay.kernels.recurrent.loop import Loop
from foresay.kernels.recurrent.plain import run_plain
from tests.contracts.settings import label
from tests.kernels.recurrent.test_fused import MASKS, D, H, compare, results

NESTED = [
    {"kind": "normed", "cell": "gru"},  # sums along rows in two phases: what is collected between them is read late
    {"kind": "normed", "cell": {"kind": "shortcut", "cell": {"kind": "zoneout", "cell": "peephole"}, "steps": 2}},
    {"kind": "shortcut", "cell": {"kind": "shortcut", "cell": "gru", "steps": 4}, "steps": 2},
    {"kind": "zoneout", "cell": {"kind": "dropped", "cell": "gru"}, "share": 0.3},
    {"kind": "dropped", "cell": {"kind": "shortcut", "steps": 3, "cell": {"kind": "lstm-projected", "projection": 4}}},
]


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("recipe", NESTED, ids=label)
def test_nested_equals_plain(recipe, mask):
    torch.manual_seed(1)
    cell = parts.make("cell", recipe)
    cell.build(D, H)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    reference = results(cell, torch.float64, "cpu", run_plain, mask)
    found = results(cell, torch.float32, "cpu", lambda *given: engine.run_fused(Loop, *given), mask)
    compare(reference, found, 1e-5)
