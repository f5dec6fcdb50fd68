"""y = x W' + b, with half precision on a GPU in rows of eight numbers, or its matrix units would stand idle.

    x  -> [x 1 0 ...]          W -> [W b 0 ...]         the columns that fill up a row hold the bias, so that its
                                                        gradient comes with that of W and costs no sum of its own

The gradient of W leaves its product in float32, as W is kept. x (..., K), weight (V, K), bias (V) -> y (..., V).
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from foresay.kernels import wide
from foresay.kernels.switch import plain

HALF = (torch.bfloat16, torch.float16)
WHOLE = 8  # numbers: sixteen bytes


def product(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """x W' + b; differentiable once where it is filled up or wide (wide.py), twice elsewhere."""
    if wide.can_multiply(x, weight):
        return wide.linear(x, weight, bias)
    dtype = half_on_gpu(x)
    if dtype is None or x.shape[-1] % WHOLE == 0 or plain():
        return F.linear(x, weight, bias)
    return filled_product(x, weight, bias, dtype)[..., : len(weight)]


def filled_product(x: Tensor, weight: Tensor, bias: Tensor | None, dtype: torch.dtype) -> Tensor:
    """The same in columns of a multiple of eight; those past V hold the lowest number there is."""
    return _Filled.apply(x, weight, bias, dtype)  # pyright: ignore[reportReturnType]


def half_on_gpu(x: Tensor) -> torch.dtype | None:
    """The half precision that products with x will run in on a GPU, None elsewhere."""
    if not x.is_cuda:
        return None
    dtype = torch.get_autocast_dtype("cuda") if torch.is_autocast_enabled("cuda") else x.dtype
    return dtype if dtype in HALF else None


def gradient_product(g: Tensor, x: Tensor, dtype: torch.dtype) -> Tensor:
    """g' x of g (N, V) and x (N, K), in `dtype`."""
    if g.is_cuda and g.dtype in HALF and dtype == torch.float32:
        return torch.mm(g.t(), x, out_dtype=dtype)
    real = g.device.type == "cpu" and g.dtype == x.dtype == dtype == torch.float32 and not plain()
    return wide.weight_gradient(g, x) if real else (g.t() @ x).to(dtype)


def filled(x: Tensor) -> Tensor:
    """x (N, K) with zeros up to rows of eight numbers, where that makes products faster."""
    missing = -x.shape[1] % WHOLE if x.is_cuda and x.dtype in HALF else 0
    return F.pad(x, (0, missing)) if missing else x


def whole(width: int) -> int:
    """The next multiple of eight."""
    return -(-width // WHOLE) * WHOLE


class _Filled(torch.autograd.Function):
    """x, W, b -> [x 1 0 ...] [W b 0 ...]'."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, dtype: torch.dtype) -> Tensor:
        rows, width = weight.shape
        columns = whole(width + bool(bias is not None or rows % WHOLE))
        wide = x.new_empty(*x.shape[:-1], columns, dtype=dtype)
        wide[..., :width] = x
        wide[..., width:] = 0
        wide[..., width : width + 1] = 1
        table = weight.new_empty(whole(rows), columns, dtype=dtype)
        table[:rows, :width] = weight
        table[:, width:] = 0
        if bias is not None:
            table[:rows, width] = bias
        if len(table) > rows:
            table[rows:, :width] = 0
            table[rows:, width] = torch.finfo(dtype).min
        ctx.save_for_backward(wide, table)
        ctx.given = x.dtype, weight.dtype, rows, width
        return wide @ table.t()

    @staticmethod
    @once_differentiable  # FORESAY_PLAIN=1 takes the way that is differentiable twice
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        wide, table = ctx.saved_tensors
        x_dtype, w_dtype, rows, width = ctx.given
        grad = grads[0].flatten(0, -2)
        d_x = d_table = None
        if ctx.needs_input_grad[0]:
            d_x = (grad @ table)[:, :width].to(x_dtype).unflatten(0, wide.shape[:-1])
        if ctx.needs_input_grad[1] or ctx.needs_input_grad[2]:
            d_table = gradient_product(grad, wide.flatten(0, -2), w_dtype)
        d_weight = d_table[:rows, :width] if d_table is not None and ctx.needs_input_grad[1] else None
        d_bias = d_table[:rows, width] if d_table is not None and ctx.needs_input_grad[2] else None
        return d_x, d_weight, d_bias, None
