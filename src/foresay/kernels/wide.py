"""y = x W' + b of many rows in training on a CPU: by oneDNN forwards and for dx, where torch would call MKL.

    y = x W' + b        dx = dy W        dW = dy' x        db = 1' dy

oneDNN's products of float32 are a tenth to a third faster on the machines that were measured (docs/log.md), but for dW,
where both factors are tall: that stays MKL's. FORESAY_PLAIN=1 takes torch's linear layer.

x (..., K), weight (O, K), bias (O) -> y (..., O)
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from foresay.kernels.switch import plain

LEAST = 1 << 26  # multiplications that are worth it


def can_multiply(x: Tensor, weight: Tensor) -> bool:
    """Whether these are such products."""
    if x.numel() * len(weight) < LEAST or torch.compiler.is_compiling():
        return False
    here = x.device.type == "cpu" and not torch.is_autocast_enabled("cpu")
    return here and x.dtype == weight.dtype == torch.float32 and not plain() and _there()


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """x W' + b"""
    return _Linear.apply(x.flatten(0, -2), weight, bias).unflatten(0, x.shape[:-1])  # pyright: ignore[reportReturnType, reportAttributeAccessIssue]


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        return product(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        (x, weight), dy = ctx.saved_tensors, grad_outputs[0]
        wanted = ctx.needs_input_grad
        dx = product(dy, weight.t()) if wanted[0] else None
        return dx, dy.t() @ x if wanted[1] else None, dy.sum(0) if wanted[2] else None


def product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x W' + b of (N, K) and (O, K), without gradients."""
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")


@cache
def _there() -> bool:
    """Whether this build of torch has it, and it multiplies."""
    if not torch.backends.mkldnn.is_available():
        return False
    try:
        return bool((product(torch.ones(2, 3), torch.ones(4, 3)) == 3.0).all())
    except (AttributeError, RuntimeError, TypeError):
        return False
