"""WaveNet's gate on a CPU, in training a quarter of torch's time: one pass there, one back (gate_loops.py).

    z = tanh(a) * sigmoid(g),  x = [a; g]
    da = dz s (1 - t^2),  dg = dz t s (1 - s)         t = tanh(a), s = sigmoid(g), worked out again on the way back

For float32, halves of whole vectors of sixteen numbers. FORESAY_PLAIN=1 takes torch's. x (..., 2 R) -> z (..., R)
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from foresay.kernels.switch import compiles, in_file, plain
from foresay.kernels.thin import Loops

WHOLE = 16  # numbers of a vector
LEAST = 1 << 14  # numbers that are worth it


def gated(x: Tensor) -> Tensor:
    """tanh of the first half times sigmoid of the second."""
    here = not in_file() and x.device.type == "cpu" and x.dtype == torch.float32 and x.is_contiguous()
    if (
        not here
        or x.numel() < LEAST
        or x.shape[-1] % (2 * WHOLE)
        or not compiles()
        or plain()
        or torch.compiler.is_compiling()
    ):
        a, g = x.chunk(2, -1)
        return a.tanh() * g.sigmoid()
    return _Gated.apply(x)  # pyright: ignore[reportReturnType]


class _Gated(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        z = x.new_empty(*x.shape[:-1], x.shape[-1] // 2)
        _call(x, z, None)
        return z

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Tensor) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        (x,) = ctx.saved_tensors
        dx = torch.empty_like(x)
        _call(x, grad_outputs[0].contiguous(), dx)
        return dx


def _call(x: Tensor, z: Tensor, dx: Tensor | None) -> None:
    """Fills z, or dx where z is its gradient."""
    half = x.shape[-1] // 2
    given = (x.data_ptr(), z.data_ptr(), 0 if dx is None else dx.data_ptr(), z.numel() // half, half // WHOLE)
    table = (ctypes.c_int64 * len(given))(*given)
    _loops()(ctypes.addressof(table), threaded=True)


@cache
def _loops() -> Loops:
    return Loops("foresay.kernels.gate_loops")
