"""Inputs against targets, compared with the formula in float64."""

import numpy as np
import pytest

from foresay.kernels.word_vectors.block import set_against
from foresay.kernels.word_vectors.plan import Targets, aligned

D = 32


def expected(x, u, y, rate):
    scores = x @ u.T
    q = 1 / (1 + np.exp(-y * scores))
    g = rate * y * (1 - q) * (y != 0)
    return -(np.log(q) * (y != 0)).sum(), g @ u, g.T @ x


@pytest.mark.parametrize(("count", "size"), [(1, 3), (2, 6), (7, 6), (3, 15), (10, 21)])
@pytest.mark.parametrize("scale", [0.1, 1.0, 4.0])
def test_against_the_formula(count, size, scale):
    draw = np.random.default_rng(count * size)
    x, table = aligned(12, D), aligned(40, D)
    x[:], table[:] = draw.normal(size=x.shape) * scale, draw.normal(size=table.shape) * 0.3
    rows = np.array([5, *draw.choice(np.arange(10, 40), size - 1, replace=False)])
    signs = np.where(np.arange(size) % 3 == 0, 1.0, -1.0).astype(np.float32)
    signs[-1] = 0.0
    inputs = draw.permutation(12)[:count]
    first, to = 2, 1
    targets = Targets(np.r_[0, 0, rows].astype(np.int64), np.r_[0, 0, signs].astype(np.float32))
    dx, du, before = aligned(12, D), aligned(size + 2, D), table.copy()
    du[:] = 7.0
    flat = np.zeros(count * size + 16, np.float32)
    loss = set_against(
        x, dx, inputs.astype(np.int64), count, table, targets, first, size, du, to, flat, flat.copy(), 0.05
    )
    true_loss, true_dx, true_du = expected(
        x[inputs].astype(np.float64), table[rows].astype(np.float64), signs.astype(np.float64), 0.05
    )
    assert loss == pytest.approx(true_loss, rel=1e-5, abs=1e-5)
    np.testing.assert_allclose(dx[inputs], true_dx, rtol=1e-4, atol=2e-6 * scale)
    np.testing.assert_allclose(du[to : to + size], true_du, rtol=1e-4, atol=5e-6 * scale)
    assert not np.delete(dx, inputs, 0).any() and (du[[0, -1]] == 7.0).all()
    np.testing.assert_array_equal(table, before)


def test_what_is_far_off_keeps_its_loss():
    """A score of -30 costs 30 nats, not the logarithm of 0; many of them add up."""
    x, table, dx, du = aligned(1, 16), aligned(3, 16), aligned(1, 16), aligned(30, 16)
    x[0, 0], table[:, 0] = 30.0, -1.0
    targets = Targets(np.arange(30, dtype=np.int64) % 3, np.ones(30, np.float32))
    flat = np.zeros(64, np.float32)
    loss = set_against(x, dx, np.zeros(1, np.int64), 1, table, targets, 0, 30, du, 0, flat, flat.copy(), 0.1)
    assert loss == pytest.approx(900.0, rel=1e-6)
    assert dx[0, 0] == pytest.approx(-3.0, rel=1e-6)  # 30 targets, each rate * 1 * -1
