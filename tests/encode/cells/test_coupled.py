"""The coupled LSTM over two steps in numpy, and one by hand: i = 1 - f."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from foresay.encode.cells.coupled import Coupled
from tests.encode.cells.worked import C0, H0, X, load, matrix, run, sigmoid, vector


def test_two_steps():
    wf, wg, wo, uf, ug, uo = (matrix(n) for n in range(6))
    bf, bg, bo = (vector(n) for n in range(6, 9))
    h, c, expected = H0, C0, []
    for x in X:
        f = sigmoid(wf @ x + uf @ h + bf)
        c = f * c + (1 - f) * np.tanh(wg @ x + ug @ h + bg)
        h = sigmoid(wo @ x + uo @ h + bo) * np.tanh(c)
        expected.append(h)
    weights = {"weight_ih": [wf, wg, wo], "weight_hh": [uf, ug, uo], "bias_ih": [bf, bg, bo]}
    cell = load(Coupled(), 2, 2, {name: np.concatenate(parts) for name, parts in weights.items()})
    y, after = run(cell, h=H0, c=C0)
    np.testing.assert_allclose(y, expected, rtol=1e-12)
    np.testing.assert_allclose(after["c"], c, rtol=1e-12)


def test_one_step_by_hand():
    """x = 1, c = 2: f = sigmoid(ln 3) = 0.75, c~ = tanh(0) = 0, so c' = 0.75 * 2 = 1.5; o = 0.5: h' = 0.452574."""
    weights = {
        "weight_ih": np.array([[np.log(3)], [0.0], [0.0]]),
        "weight_hh": np.zeros((3, 1)),
        "bias_ih": np.zeros(3),
    }
    cell, one = load(Coupled(), 1, 1, weights), torch.ones(1, 1, 1, dtype=torch.float64)
    y, after = cell.run(one, {"h": one[0], "c": 2 * one[0]})
    assert after["c"].item() == pytest.approx(1.5, rel=1e-12) and y.item() == pytest.approx(0.452574, rel=1e-5)


@pytest.mark.parametrize("forget_bias", [1.0, 2.5])
def test_forget_bias(forget_bias):
    cell = Coupled(forget_bias=forget_bias)
    cell.build(3, 5)
    assert cell.bias_ih is not None and cell.bias_ih.tolist() == [forget_bias] * 5 + [0.0] * 10
