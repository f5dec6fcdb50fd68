"""Products in rows of eight numbers: the values and gradients of torch's own linear layer."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from foresay.kernels import product as kernel
from foresay.kernels.product import filled_product, gradient_product, half_on_gpu, product


def case(width: int, rows: int, *, bias: bool, dtype=torch.float64, device="cpu"):
    torch.manual_seed(1)
    tensors = [torch.randn(3, 5, width), torch.randn(rows, width), *([torch.randn(rows)] if bias else [])]
    return [tensor.to(device, dtype).requires_grad_() for tensor in tensors]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("width, rows", [(13, 11), (13, 16), (16, 11), (16, 16), (7, 8), (1, 1)])
def test_filled_up_it_is_the_linear_layer(width: int, rows: int, bias: bool) -> None:
    tensors = case(width, rows, bias=bias)
    grad = torch.randn(3, 5, rows, dtype=torch.float64)
    expected = F.linear(*tensors)
    wide = filled_product(*tensors, *([] if bias else [None]), torch.float64)
    assert wide.shape[2] % 8 == 0 and (wide[..., rows:] == torch.finfo(torch.float64).min).all()
    torch.testing.assert_close(wide[..., :rows], expected)
    wanted = torch.autograd.grad(expected, tensors, grad)
    torch.testing.assert_close(torch.autograd.grad(wide[..., :rows], tensors, grad), wanted)


@pytest.mark.parametrize("wanted", [0, 1, 2])
def test_only_the_gradients_that_are_wanted(wanted: int) -> None:
    tensors = case(13, 11, bias=True)
    expected = torch.autograd.grad(F.linear(*tensors).square().sum(), tensors[wanted])
    given = [tensor if index == wanted else tensor.detach() for index, tensor in enumerate(tensors)]
    y = filled_product(*given, torch.float64)[..., :11]
    torch.testing.assert_close(torch.autograd.grad(y.square().sum(), tensors[wanted]), expected)


def test_where_it_is_filled_up(monkeypatch) -> None:
    tensors = case(13, 11, bias=True)
    assert half_on_gpu(tensors[0]) is None and torch.equal(product(*tensors), F.linear(*tensors))
    monkeypatch.setattr(kernel, "half_on_gpu", lambda x: torch.float64)
    monkeypatch.setattr(kernel, "filled_product", lambda *given: torch.zeros(3, 5, 16))
    assert product(*tensors).shape == (3, 5, 11) and not product(*tensors).any()
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    assert torch.equal(product(*tensors), F.linear(*tensors))


def test_gradient_in_the_type_of_the_weight() -> None:
    g, x = torch.randn(9, 4), torch.randn(9, 6)
    assert torch.equal(gradient_product(g, x, torch.float64), (g.t() @ x).double())


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_on_a_gpu(dtype: torch.dtype) -> None:
    """Against float64, as shares of the length: 8 bits of bfloat16 give 1e-2."""
    exact, tensors = (case(130, 51, bias=True, dtype=d, device="cuda") for d in (torch.float64, torch.float32))
    expected = F.linear(*exact)
    with torch.autocast("cuda", dtype):
        y = product(*tensors)
    assert y.dtype == dtype
    found = (y, *torch.autograd.grad(y.float().square().sum(), tensors))
    for value, wanted in zip(found, (expected, *torch.autograd.grad(expected.square().sum(), exact)), strict=True):
        assert (value.double() - wanted).norm() < 1e-2 * wanted.norm()
