"""The sLSTM against its defining sums, without the running maximum that keeps them in range."""

from __future__ import annotations

import numpy as np

from foresay.encode.cells.slstm import SLSTM
from tests.encode.cells.worked import X, load, matrix, run, sigmoid, vector


def gates() -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], dict[str, np.ndarray]]:
    w = {g: matrix(n) for n, g in enumerate("ifzo")}
    return w, {g: matrix(n + 4) for n, g in enumerate("ifzo")}, {g: vector(n + 8) for n, g in enumerate("ifzo")}


def built(w, u, b) -> SLSTM:
    weights = {"weight_ih": w, "weight_hh": u, "bias_ih": b}
    return load(SLSTM(), 2, 2, {name: np.concatenate(list(table.values())) for name, table in weights.items()})


def test_two_steps_equal_the_unstabilised_sums():
    """c' = f c + exp(i) z, n' = f n + exp(i), h' = o c' / n', f a sigmoid: exp(-m) cancels in c / n."""
    w, u, b = gates()
    h, c, n, expected = np.zeros(2), np.zeros(2), np.zeros(2), []
    for x in X:
        a = {gate: w[gate] @ x + u[gate] @ h + b[gate] for gate in "ifzo"}
        f, i = sigmoid(a["f"]), np.exp(a["i"])
        c, n = f * c + i * np.tanh(a["z"]), f * n + i
        h = sigmoid(a["o"]) * c / n
        expected.append(h)
    y, after = run(built(w, u, b), **dict.fromkeys("hcnm", np.zeros(2)))
    np.testing.assert_allclose(y, expected, rtol=1e-12)
    np.testing.assert_allclose(after["c"] * np.exp(after["m"]), c, rtol=1e-12)
    np.testing.assert_allclose(after["n"] * np.exp(after["m"]), n, rtol=1e-12)


def test_large_gates_stay_finite():
    """exp(800) is infinite in float64; the maximum takes it out."""
    w, u, b = gates()
    b["i"] = b["i"] + 800
    y, _ = run(built(w, u, b), **dict.fromkeys("hcnm", np.zeros(2)))
    assert np.isfinite(y).all() and np.abs(y).max() > 1e-3
