"""Powers of chosen matrices against sums over eigenvalues worked out by numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from foresay.encode.cells.elman import Elman
from foresay.study.dynamics.powers import lasting, log_slope, responses, uniform_start, with_eigenvalues


def test_a_matrix_has_the_eigenvalues_asked_for():
    weight = with_eigenvalues([0.9, -0.5, 0.3 + 0.4j], 1)
    assert weight.shape == (4, 4) and weight.dtype == torch.float64
    found = sorted(np.linalg.eigvals(weight.numpy()), key=lambda one: (one.real, one.imag))
    assert found == pytest.approx([-0.5, 0.3 - 0.4j, 0.3 + 0.4j, 0.9], abs=1e-12)
    torch.testing.assert_close(weight @ weight.T, weight.T @ weight)  # normal
    assert not torch.equal(weight, with_eigenvalues([0.9, -0.5, 0.3 + 0.4j], 2))


def test_the_start_is_uniform_and_of_length_one():
    assert uniform_start(4).tolist() == [0.5] * 4


def test_norms_are_sums_over_eigenvalues():
    """||W^k h||^2 = sum |lambda_j|^2k |q_j . h|^2, by numpy's eigenvectors."""
    weight = with_eigenvalues([1.1, 0.7, -0.2, 0.6 + 0.6j], 3)
    norms = responses(weight, 30).norm(dim=1).numpy()
    values, vectors = np.linalg.eig(weight.numpy())
    shares = np.abs(np.linalg.solve(vectors, np.full(5, 5**-0.5))) ** 2
    expected = [math.sqrt((np.abs(values) ** (2 * k) * shares).sum()) for k in range(31)]
    assert norms == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("value", [0.9, 1.0, 1.1])
def test_the_greatest_eigenvalue_is_the_slope(value: float):
    norms = responses(with_eigenvalues([value, 0.5 * value, 0.3, 0.1], 4), 100).norm(dim=1)
    assert log_slope(norms, 50) == pytest.approx(math.log(value), abs=1e-9)


@pytest.mark.parametrize("second", [0.5, 0.9, -0.7])
def test_at_one_the_second_decides(second: float):
    """What is left is the share of the first eigenvector, and all else falls as the second eigenvalue."""
    weight = with_eigenvalues([1.0, second, 0.1], 5)
    states, kept = responses(weight, 60), lasting(weight)
    torch.testing.assert_close(torch.linalg.matrix_power(weight, 2000) @ states[0], kept, atol=1e-9, rtol=0)
    assert log_slope((states - kept).norm(dim=1)[:30], 10) == pytest.approx(math.log(abs(second)), abs=1e-6)


@pytest.mark.parametrize("activation", ["identity", "tanh", "relu", "sigmoid"])
def test_states_are_those_of_the_cell(activation):
    """Elman with these weights that reads zeros, from the uniform start."""
    weight = with_eigenvalues([1.1, 0.4, -0.9], 6)
    cell = Elman(activation=activation)
    cell.build(2, 3)
    cell.double()
    with torch.no_grad():
        cell.weight_hh.copy_(weight)
        y = cell.run(torch.zeros(1, 12, 2, dtype=torch.float64), {"h": uniform_start(3)[None]})[0]
    torch.testing.assert_close(responses(weight, 12, activation)[1:], y[0])


def test_slopes_by_hand():
    assert log_slope(torch.tensor([1.0, math.e, math.e**2]).double()) == pytest.approx(1)
    assert log_slope(torch.tensor([9.0, 1, 0.5, 0.25, 0]).double(), 1) == pytest.approx(-math.log(2))
    assert log_slope(torch.zeros(5)) == -math.inf
