"""Dropout on a CPU by a hash: what is dropped, how often, and the same on the way back."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from foresay.kernels import dropout as module
from foresay.kernels.dropout import dropout
from foresay.kernels.switch import compiles

compiled = pytest.mark.skipif(not compiles(), reason="nothing is compiled")
MANY = 1 << 20


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@compiled
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.9])
def test_what_is_dropped(share):
    torch.manual_seed(1)
    x = torch.randn(512, 16, 128, requires_grad=True)
    y = dropout(x, share, True)
    assert "_Dropout" in str(y.grad_fn)
    kept = y != 0
    torch.testing.assert_close(y[kept], x[kept] / (1 - share))
    spread = (share * (1 - share) / MANY) ** 0.5
    assert abs(float((~kept).float().mean()) - share) < 4 * spread
    change = torch.randn_like(y)
    (gradient,) = torch.autograd.grad(y, x, change)
    torch.testing.assert_close(gradient, torch.where(kept, change / (1 - share), 0))


@compiled
def test_draws_do_not_depend_on_one_another():
    """Neighbours, numbers a row or a piece apart and two draws agree as often as chance has it."""
    torch.manual_seed(1)
    one, two = (dropout(torch.ones(MANY, requires_grad=True), 0.5, True) > 0 for _ in range(2))
    spread = 0.5 / MANY**0.5
    for apart in (1, 2, 16, 128, 4096, 8192):
        assert abs(float((one[apart:] == one[:-apart]).float().mean()) - 0.5) < 5 * spread, apart
    assert abs(float((one == two).float().mean()) - 0.5) < 5 * spread
    counts = one.view(-1, 64).sum(1).float()  # of 64: binomial, deviation 4
    assert abs(float(counts.var()) - 16) < 5 * 16 * (2 / len(counts)) ** 0.5


@compiled
@pytest.mark.parametrize("numbers", [1 << 14, 4096 * 5 + 16 * 3 + 7, (1 << 16) + 1])
def test_the_same_on_any_number_of_threads(numbers, threads):
    x = torch.rand(numbers) + 1
    found = []
    for number in (1, 2):
        threads(number)
        torch.manual_seed(3)
        found.append(dropout(x, 0.4, True))
    assert torch.equal(*found)
    tail = found[0][-7:]
    assert torch.equal(tail != 0, tail >= 1)  # every number is written


@compiled
def test_the_last_numbers_are_dropped_as_vectors_are():
    """Numbers that fill no vector are hashed one by one: as if more followed."""
    torch.manual_seed(5)
    short = dropout(torch.ones(4096 * 4 + 11), 0.5, True)
    torch.manual_seed(5)
    long = dropout(torch.ones(4096 * 4 + 16), 0.5, True)
    assert torch.equal(short, long[:-5]) and 0 < int((short[-11:] == 0).sum()) < 11


@compiled
def test_rows_that_lie_apart():
    torch.manual_seed(1)
    x = torch.randn(130, 2, 128).transpose(0, 1).requires_grad_()
    y = dropout(x, 0.2, True)
    (gradient,) = torch.autograd.grad(y, x, torch.ones(128, 130, 2).permute(2, 1, 0))
    kept = gradient != 0
    torch.testing.assert_close(y, torch.where(kept, x / 0.8, 0))


@compiled
def test_half_precision_is_widened():
    """As numbers are under autocast: m is the same, and rounded once."""
    x = torch.randn(1 << 14).bfloat16().requires_grad_()
    torch.manual_seed(2)
    y = dropout(x, 0.3, True)
    torch.manual_seed(2)
    assert torch.equal(y, dropout(x.float(), 0.3, True).bfloat16()) and y.dtype == torch.bfloat16
    assert torch.autograd.grad(y.sum(), x)[0].dtype == torch.bfloat16


def test_elsewhere_it_is_torchs(monkeypatch):
    few, many = torch.randn(64, requires_grad=True), torch.randn(1 << 14, requires_grad=True)
    for x in (few, many.double()):
        torch.manual_seed(1)
        y = dropout(x, 0.5, True)
        torch.manual_seed(1)
        assert torch.equal(y, F.dropout(x, 0.5, True))
    assert dropout(many, 0.5, False) is many and torch.equal(dropout(many, 0.0, True), many)
    assert not dropout(many, 1.0, True).any()
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    assert not module._can_drop(many)
