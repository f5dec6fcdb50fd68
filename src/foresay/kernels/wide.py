"""y = x W' + b of many rows on a CPU: by oneDNN, where torch would call MKL.

    y = x W' + b        dx = dy W        dW = dy' x        db = 1' dy

oneDNN's products of float32 are a tenth to a third faster on the machines that were measured, and more than twice as
fast where MKL leaves half of the processor's vectors unused, as on AMD's (docs/log.md). For dW oneDNN takes copies of
both factors, which pays there alone; elsewhere dW stays MKL's. FORESAY_PLAIN=1 takes torch's linear layer.

x (..., K), weight (O, K), bias (O) -> y (..., O)
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from foresay.kernels.switch import in_file, plain

LEAST = 1 << 26  # multiplications that are worth it
PIECE = 1 << 20  # numbers of a gradient that are found at a time
LEAST_IDLE = 1 << 22  # where MKL leaves vectors idle


def can_multiply(x: Tensor, weight: Tensor) -> bool:
    """Whether these are such products."""
    if in_file():  # before anything is asked of lengths that are not known
        return False
    work = x.numel() * len(weight)
    if work < LEAST_IDLE or x.device.type != "cpu" or x.ndim == 1 or torch.compiler.is_compiling():
        return False
    real = x.dtype == weight.dtype == torch.float32 and not torch.is_autocast_enabled("cpu")
    return real and (work >= LEAST or has_idle_vectors()) and not plain() and _there()


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """x W' + b, differentiable once."""
    rows = x.flatten(0, -2)
    y: Any = _Linear.apply(rows, weight, bias) if torch.is_grad_enabled() else product(rows, weight, bias)
    return y.unflatten(0, x.shape[:-1])


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
        dw = weight_gradient(dy, x) if wanted[1] else None
        return dx, dw, dy.sum(0) if wanted[2] else None


def product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x W' + b of (N, K) and (O, K), without gradients."""
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")


def weight_gradient(dy: Tensor, x: Tensor) -> Tensor:
    """dy' x of (N, O) and (N, K), without gradients."""
    if dy.numel() * x.shape[1] < max(LEAST_IDLE, 1) or not has_idle_vectors():
        return dy.t() @ x
    found = x.new_empty(dy.shape[1], x.shape[1])
    add_weight_gradient(found, dy, x, keep=False)
    return found


def add_weight_gradient(to: Tensor, dy: Tensor, x: Tensor, *, keep: bool) -> None:
    """to = dy' x, and what it was if that is to be kept: by oneDNN, some rows at a time, for it wants copies."""
    factor, rows = x.to_mkldnn(), max(PIECE // max(x.shape[1], 1), 16)
    for part, own in zip(to.split(rows), dy.split(rows, 1), strict=True):
        shape = x.new_empty(()).expand(part.shape)  # oneDNN asks for W, and looks at its shape alone
        found = torch.ops.aten.mkldnn_linear_backward_weights(own.to_mkldnn(), factor, shape, False)[0].to_dense()
        part.add_(found) if keep else part.copy_(found)


def laid_out(weight: Tensor, rows: int) -> Tensor | None:
    """W (O, K) as `product` with so many rows reads it fastest; None where MKL's products are as good."""
    if not has_idle_vectors() or plain() or not _there():
        return None
    return torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), rows)


@cache
def has_idle_vectors() -> bool:
    """Whether this processor has vectors of 512 bits and is not Intel's, so that MKL uses half of each."""
    try:
        described = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return "AuthenticAMD" in described and torch.backends.cpu.get_cpu_capability().startswith("AVX512")


@cache
def _there() -> bool:
    """Whether this build of torch has it, and it multiplies."""
    if not torch.backends.mkldnn.is_available():
        return False
    try:
        laid = torch.ops.mkldnn._reorder_linear_weight(torch.ones(4, 3), 2)
        return all((product(torch.ones(2, 3), weight) == 3.0).all() for weight in (torch.ones(4, 3), laid))
    except (AttributeError, RuntimeError, TypeError):
        return False
