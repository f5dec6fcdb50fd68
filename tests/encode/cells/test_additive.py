"""The additive cell over two steps in numpy: what is learnt is added, nothing is lost."""

from __future__ import annotations

import numpy as np

from foresay.encode.cells.additive import Additive
from tests.encode.cells.worked import H0, X, load, matrix, run, vector


def test_two_steps():
    w, u, b = matrix(1), matrix(2), vector(3)
    first = H0 + np.tanh(w @ X[0] + u @ H0 + b)
    second = first + np.tanh(w @ X[1] + u @ first + b)
    y, after = run(load(Additive(), 2, 2, {"weight_ih": w, "weight_hh": u, "bias_ih": b}), h=H0)
    np.testing.assert_allclose(y, [first, second], rtol=1e-12)
    np.testing.assert_allclose(after["h"], second, rtol=1e-12)


def test_without_weights_the_state_stays():
    zeros = {"weight_ih": np.zeros((2, 2)), "weight_hh": np.zeros((2, 2)), "bias_ih": np.zeros(2)}
    y, _ = run(load(Additive(), 2, 2, zeros), h=H0)
    assert y.tolist() == [H0.tolist(), H0.tolist()]
