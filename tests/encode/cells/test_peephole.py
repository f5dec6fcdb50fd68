"""Both peephole LSTMs over two steps in numpy: i and f see the memory before, o the memory after."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from foresay.encode.cells.peephole import Peephole, PeepholeDiagonal
from tests.encode.cells.worked import C0, H0, X, load, matrix, run, sigmoid, vector

W, U = {g: matrix(n) for n, g in enumerate("ifgo")}, {g: matrix(n + 4) for n, g in enumerate("ifgo")}
V, P = {g: matrix(n + 8) for n, g in enumerate("ifo")}, {g: vector(n + 8) for n, g in enumerate("ifo")}
BIAS = {g: vector(n + 12) for n, g in enumerate("ifgo")}


def stacked(table: dict[str, np.ndarray], gates: str = "ifgo") -> np.ndarray:
    return np.concatenate([table[gate] for gate in gates])


def steps(see: dict[str, np.ndarray], *, full: bool, old_memory: bool = False) -> tuple[list[np.ndarray], np.ndarray]:
    """h after each step and the last c; `old_memory` is the mistake of letting o see the memory before."""

    def peep(gate: str, c: np.ndarray) -> np.ndarray:
        return see[gate] @ c if full else see[gate] * c

    h, c, shown = H0, C0, []
    for x in X:
        i = sigmoid(W["i"] @ x + U["i"] @ h + peep("i", c) + BIAS["i"])
        f = sigmoid(W["f"] @ x + U["f"] @ h + peep("f", c) + BIAS["f"])
        g = np.tanh(W["g"] @ x + U["g"] @ h + BIAS["g"])
        before, c = c, f * c + i * g
        o = sigmoid(W["o"] @ x + U["o"] @ h + peep("o", before if old_memory else c) + BIAS["o"])
        h = o * np.tanh(c)
        shown.append(h)
    return shown, c


@pytest.mark.parametrize("full", [True, False])
def test_two_steps(full):
    weights = {"weight_ih": stacked(W), "weight_hh": stacked(U), "bias_ih": stacked(BIAS)}
    if full:
        # what a gate sees of c before the step, and of c after it, are two matrices
        cell = load(Peephole(), 2, 2, weights | {"weight_c": stacked(V, "if"), "weight_new_c": V["o"]})
    else:
        cell = load(PeepholeDiagonal(), 2, 2, weights | {f"peep_{gate}": P[gate] for gate in "ifo"})
    y, after = run(cell, h=H0, c=C0)
    expected, c = steps(V if full else P, full=full)
    np.testing.assert_allclose(y, expected, rtol=1e-12)
    np.testing.assert_allclose(after["c"], c, rtol=1e-12)
    wrong, _ = steps(V if full else P, full=full, old_memory=True)
    assert np.abs(wrong[0] - y[0]).max() > 1e-3


def test_one_step_by_hand():
    """One unit, diagonal; x = 1, h = 0, c = 2; all of W so that i = 0.5, f = 0.5, c~ = 0.5 before o.

    i = sigmoid(-1 + 0.5 * 2) = 0.5;  f = sigmoid(2 - 1 * 2) = 0.5;  c~ = tanh(0.549306) = 0.5
    c' = 0.5 * 2 + 0.5 * 0.5 = 1.25;  o = sigmoid(0 + 1 * 1.25) = 0.777300;  h' = 0.777300 * tanh(1.25) = 0.659367
    """
    cell = load(
        PeepholeDiagonal(),
        1,
        1,
        {
            "weight_ih": np.array([[-1.0], [2.0], [0.5493061443340549], [0.0]]),
            "weight_hh": np.zeros((4, 1)),
            "bias_ih": np.zeros(4),
            "peep_i": np.array([0.5]),
            "peep_f": np.array([-1.0]),
            "peep_o": np.array([1.0]),
        },
    )

    one = torch.ones(1, 1, 1, dtype=torch.float64)
    y, after = cell.run(one, {"h": 0 * one[0], "c": 2 * one[0]})
    assert after["c"].item() == pytest.approx(1.25, rel=1e-12)
    assert y.item() == pytest.approx(0.659367, rel=1e-5)
