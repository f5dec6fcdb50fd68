"""GELU with tanh in training on a CPU, in half of torch's time: its own way there and back (gelu_loops.py).

For float32, whole vectors of sixteen numbers. FORESAY_PLAIN=1 takes torch's. x (...) -> y (...)
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from foresay.kernels.switch import compiles, plain
from foresay.kernels.thin import Loops

WHOLE = 16  # numbers of a vector
LEAST = 1 << 16  # numbers that are worth it


def gelu_tanh(x: Tensor) -> Tensor:
    """x (1 + tanh u) / 2, u = 0.798 (x + 0.0447 x^3)"""
    trained = torch.is_grad_enabled() and x.requires_grad and x.device.type == "cpu" and x.dtype == torch.float32
    fits = x.is_contiguous() and x.numel() >= LEAST and not x.numel() % WHOLE
    if trained and fits and compiles() and not plain() and not torch.compiler.is_compiling():
        return _Gelu.apply(x)  # pyright: ignore[reportReturnType]
    return F.gelu(x, approximate="tanh")


class _Gelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return _call(x, None)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Tensor) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _call(ctx.saved_tensors[0], grad_outputs[0].contiguous())


def _call(x: Tensor, dy: Tensor | None) -> Tensor:
    out = torch.empty_like(x)
    given = (x.data_ptr(), 0 if dy is None else dy.data_ptr(), out.data_ptr(), x.numel() // WHOLE)
    table = (ctypes.c_int64 * len(given))(*given)
    _loops()(ctypes.addressof(table), threaded=True)
    return out


@cache
def _loops() -> Loops:
    return Loops("foresay.kernels.gelu_loops")
