"""Rows of a table: torch's own, and the same gradients to the bit on several threads."""

from __future__ import annotations

import pytest
import torch

from foresay.kernels.taken import taken


@pytest.mark.parametrize(
    "numbers", [torch.tensor([3, 0, 3]), torch.tensor([[1, 1, 1], [4, 2, 1]]), torch.zeros(0).long()]
)
@pytest.mark.parametrize("shape", [(5,), (5, 3), (5, 2, 3)])
def test_equals_indexing(shape, numbers):
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    found, due = taken(x, numbers), x[numbers]
    assert torch.equal(found, due)
    change = torch.randn_like(due)
    for one, other in zip(torch.autograd.grad(found, x, change), torch.autograd.grad(due, x, change), strict=True):
        torch.testing.assert_close(one, other)


def test_the_same_bytes_on_two_threads():
    """Of x[i] they differ in most runs: 40,000 rows are added to 50 by whoever comes first."""
    torch.manual_seed(1)
    x, numbers, change = torch.randn(50, 8, requires_grad=True), torch.randint(50, (40_000,)), torch.randn(40_000, 8)
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 2, 2):
            torch.set_num_threads(threads)
            found += torch.autograd.grad(taken(x, numbers), x, change)
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(one, found[0]) for one in found)
