"""What every registered pool keeps: padding changes nothing, an empty row gives zeros."""

from __future__ import annotations

import pytest
import torch

from foresay import parts
from tests.contracts.settings import T, described, label

every = pytest.mark.parametrize("recipe", described("pool"), ids=label)
H = 14


def build(recipe):
    torch.manual_seed(1)
    pool = parts.make("pool", recipe)
    pool.build(H)
    return pool


@every
def test_padding_changes_nothing(recipe):
    pool, y = build(recipe), torch.randn(3, T, H)
    lengths = torch.tensor([3, 5, 1])
    mask = torch.arange(T) < lengths[:, None]
    pooled = pool(y, mask)
    assert pooled.shape == (3, pool.width)
    assert torch.equal(pool(y.masked_fill(~mask[..., None], 9.0), mask), pooled)
    for row, length in enumerate(lengths):
        torch.testing.assert_close(pool(y[row : row + 1, :length]), pooled[row : row + 1])


@every
def test_empty_rows_give_zeros(recipe):
    pool, y = build(recipe), torch.randn(2, T, H, requires_grad=True)
    mask = torch.tensor([[False] * T, [True] * T])
    pooled = pool(y, mask)
    assert (pooled[0] == 0).all() and (pooled[1] != 0).any()
    pooled.sum().backward()
    assert y.grad is not None and (y.grad[0] == 0).all() and (y.grad[1] != 0).any()
    assert (pool(torch.randn(2, 0, H)) == 0).all()


@every
def test_gradient_only_at_real_steps(recipe):
    pool, y = build(recipe), torch.randn(1, T, H, requires_grad=True)
    pool(y, torch.arange(T)[None] < 3).square().sum().backward()
    assert y.grad is not None and (y.grad[:, 3:] == 0).all() and (y.grad[:, :3] != 0).any()


@every
def test_describe_and_make(recipe):
    pool = build(recipe)
    assert parts.describe(parts.make("pool", parts.describe(pool))) == parts.describe(pool)
