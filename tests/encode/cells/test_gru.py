"""The lecture's GRU over two steps in numpy: reset before the product, z admits, no biases."""

from __future__ import annotations

import numpy as np

from foresay.encode.cells.gru import GRU
from tests.encode.cells.worked import H0, X, load, matrix, run, sigmoid


def test_two_steps():
    wz, wr, w, uz, ur, u = (matrix(n) for n in range(6))
    h, expected, wrong = H0, [], []
    for x in X:
        z, r = sigmoid(wz @ x + uz @ h), sigmoid(wr @ x + ur @ h)
        wrong.append((1 - z) * h + z * np.tanh(w @ x + r * (u @ h)))  # reset after the product
        h = (1 - z) * h + z * np.tanh(w @ x + u @ (r * h))
        expected.append(h)
    weights = {"weight_ih": np.concatenate([wz, wr, w]), "weight_hh": np.concatenate([uz, ur]), "weight_rh": u}
    y, _ = run(load(GRU(), 2, 2, weights), h=H0)
    np.testing.assert_allclose(y, expected, rtol=1e-12)
    assert np.abs(wrong[0] - y[0]).max() > 1e-3
