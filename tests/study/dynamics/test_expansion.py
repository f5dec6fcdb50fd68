"""The linear expansion: its sum is the cell's own run, its terms those of the eigen decomposition."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from foresay.encode.cells.elman import Elman
from foresay.errors import UserError
from foresay.study.dynamics.expansion import expand


def linear() -> Elman:
    torch.manual_seed(1)
    cell = Elman(activation="identity")
    cell.build(3, 5)
    with torch.no_grad():
        cell.bias_hh.uniform_(-1, 1)
    return cell.double()


def test_terms_add_up_to_the_cells_own_run():
    cell, x, first = linear(), torch.randn(2, 7, 3).double(), torch.randn(2, 5).double()
    terms = expand(cell, x, first)
    assert terms.shape == (8, 2, 5)
    torch.testing.assert_close(terms.sum(0), cell.run(x, {"h": first})[0][:, -1])
    torch.testing.assert_close(expand(cell, x).sum(0), cell.run(x, {"h": torch.zeros_like(first)})[0][:, -1])


def test_a_term_by_eigen_decomposition():
    """Term d is V Lambda^d V^-1 (U x_{T-d} + b)."""
    cell, x, first = linear(), torch.randn(1, 6, 3).double(), torch.randn(1, 5).double()
    values, vectors = np.linalg.eig(cell.weight_hh.detach().numpy())
    inputs, bias = cell.weight_ih.detach().numpy(), cell.bias().detach().numpy()
    terms = expand(cell, x, first).numpy()
    for d in range(7):
        term = first[0].numpy() if d == 6 else inputs @ x[0, 5 - d].numpy() + bias
        power = (vectors * values**d) @ np.linalg.inv(vectors)
        assert terms[d, 0] == pytest.approx((power @ term).real, abs=1e-12)


def test_what_is_not_linear_is_refused():
    cell = Elman(activation="relu")
    cell.build(2, 2)
    with pytest.raises(UserError, match="activation=relu cannot be written out as a sum; allowed: activation=identity"):
        expand(cell, torch.zeros(1, 2, 2))
