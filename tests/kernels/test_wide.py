"""The linear layer of many rows, by oneDNN, against torch's own in float64."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from foresay.kernels import thin, wide
from foresay.kernels.product import product


@pytest.fixture(params=[True, False], ids=["dW by oneDNN", "dW by MKL"])
def small(monkeypatch, request):
    monkeypatch.setattr(wide, "LEAST", 1)
    monkeypatch.setattr(wide, "LEAST_IDLE", 1)
    monkeypatch.setattr(wide, "has_idle_vectors", lambda: request.param)
    if not wide._there():
        pytest.skip("this build of torch has no oneDNN")


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(7, 5), (3, 4, 5), (2, 1, 4, 5)])
def test_values_and_gradients(small, shape, bias, monkeypatch):
    generator = torch.Generator().manual_seed(1)
    given = [torch.randn(*size, generator=generator) for size in (shape, (6, 5), (6,))]
    x, weight, shift = (one.requires_grad_() for one in given)
    taken = []
    monkeypatch.setattr(wide, "product", lambda *args, whole=wide.product: taken.append(1) or whole(*args))
    y = thin.product(x, weight, shift if bias else None)
    out = torch.randn(y.shape, generator=generator)
    y.backward(out)
    assert len(taken) == 2  # forwards, and for dx
    exact = [one.detach().double().requires_grad_() for one in given]
    expected = F.linear(exact[0], exact[1], exact[2] if bias else None)
    expected.backward(out.double())
    torch.testing.assert_close(y.double(), expected, rtol=1e-5, atol=1e-5)
    for one, other in zip(given, exact, strict=True):
        if one.grad is not None or other.grad is not None:
            torch.testing.assert_close(one.grad.double(), other.grad, rtol=1e-5, atol=1e-5)


def test_only_what_is_wanted(small):
    x, weight = torch.randn(4, 3), torch.randn(2, 3, requires_grad=True)
    thin.product(x, weight, None).sum().backward()
    assert x.grad is None
    torch.testing.assert_close(weight.grad, x.sum(0).expand(2, 3))


@pytest.mark.parametrize("shape", [(7, 5), (3, 4, 5), (5,)])
def test_without_gradients(small, shape):
    """As one measures and predicts; one vector alone is torch's."""
    x, weight, bias = torch.randn(*shape), torch.randn(6, 5), torch.randn(6)
    expected = F.linear(x.double(), weight.double(), bias.double())
    for multiply in (thin.product, product):
        with torch.no_grad():
            torch.testing.assert_close(multiply(x, weight, bias).double(), expected, rtol=1e-5, atol=1e-5)


def test_when_it_is_taken(monkeypatch):
    x, weight = torch.zeros(1 << 13, 128), torch.zeros(64, 128)
    monkeypatch.setattr(wide, "has_idle_vectors", lambda: False)
    assert wide.can_multiply(x, weight) == wide._there()
    assert not wide.can_multiply(x[: 1 << 12], weight) and not wide.can_multiply(x.double(), weight.double())
    monkeypatch.setattr(wide, "has_idle_vectors", lambda: True)
    assert wide.can_multiply(x[: 1 << 12], weight) == wide._there() and not wide.can_multiply(x[:64], weight)
    with torch.autocast("cpu"):
        assert not wide.can_multiply(x, weight)
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    assert not wide.can_multiply(x, weight)


def test_the_loss_of_many_symbols(small, monkeypatch):
    """Chunks of rows, the last one smaller; the loss and its gradients as the plain twin has them."""
    from foresay.kernels import linear_cross_entropy as module

    monkeypatch.setattr(module, "CPU_SMALL", 0)
    monkeypatch.setattr(module, "CPU_CHUNK", 16 * 30 * 4)
    generator = torch.Generator().manual_seed(1)
    given = [torch.randn(*size, generator=generator).requires_grad_() for size in ((37, 8), (30, 8), (30,))]
    targets = torch.randint(30, (37,), generator=generator)
    module.linear_cross_entropy(*given, targets).backward()
    exact = [one.detach().double().requires_grad_() for one in given]
    module.plain_linear_cross_entropy(*exact, targets).backward()
    for one, other in zip(given, exact, strict=True):
        torch.testing.assert_close(one.grad.double(), other.grad, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("idle", [True, False])
def test_weight_gradient_of_any_layout(idle, monkeypatch):
    """Transposed and sliced factors, one row, none."""
    monkeypatch.setattr(wide, "has_idle_vectors", lambda: idle)
    monkeypatch.setattr(wide, "LEAST_IDLE", 0)
    generator = torch.Generator().manual_seed(1)
    dy, x = torch.randn(6, 19, generator=generator).t(), torch.randn(19, 2, 5, generator=generator)[:, 1]
    for rows in (19, 1, 0):
        expected = dy[:rows].double().t() @ x[:rows].double()
        torch.testing.assert_close(wide.weight_gradient(dy[:rows], x[:rows]).double(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("processor", "vectors", "idle"),
    [("AuthenticAMD", "AVX512", True), ("GenuineIntel", "AVX512", False), ("AuthenticAMD", "AVX2", False)],
)
def test_whose_vectors_are_idle(processor, vectors, idle, monkeypatch):
    monkeypatch.setattr(wide.Path, "read_text", lambda *_, **__: f"vendor_id\t: {processor}\n")
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: vectors)
    assert wide.has_idle_vectors.__wrapped__() == idle


def test_a_processor_that_is_not_described(monkeypatch):
    monkeypatch.setattr(wide, "Path", lambda _: Path("no such file"))
    assert not wide.has_idle_vectors.__wrapped__()


@pytest.mark.parametrize("keep", [True, False])
def test_gradients_in_pieces(keep, monkeypatch):
    """Some rows of W at a time, the last ones fewer; added to what is there, or in its place."""
    if not wide._there():
        pytest.skip("this build of torch has no oneDNN")
    monkeypatch.setattr(wide, "PIECE", 5 * 16)
    generator = torch.Generator().manual_seed(1)
    dy, x, before = (torch.randn(*size, generator=generator) for size in ((7, 37), (7, 5), (37, 5)))
    to = before.clone() if keep else torch.full((37, 5), torch.nan)
    wide.add_weight_gradient(to, dy, x, keep=keep)
    expected = dy.double().t() @ x.double() + (before.double() if keep else 0)
    torch.testing.assert_close(to.double(), expected, rtol=1e-5, atol=1e-5)
