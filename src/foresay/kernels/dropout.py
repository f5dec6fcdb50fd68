"""Dropout on a CPU by a hash of the numbers' places (dropout_loops.py), where torch draws one number after another.

    y = m x / (1 - p),  m = 0 with probability p, else 1

Torch's takes a hundred times as long as it takes to multiply (7 ms a million numbers), a tenth of many a training step.
The seed of the hash is drawn by torch's generator; the way back works m out again, so that none is kept. For many
numbers of float32, and of bfloat16, which are widened. FORESAY_PLAIN=1 takes torch's. x (...) -> y (...)
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

LEAST = 1 << 14  # numbers that are worth it
WORTH = 1 << 16  # numbers that are worth a second thread


def dropout(x: Tensor, share: float, training: bool) -> Tensor:
    """Dropout while training, x otherwise."""
    if not training or not 0.0 < share < 1.0 or not _can_drop(x):
        return F.dropout(x, share, training)
    wide: Any = _Dropout.apply(x.float(), share, int(torch.randint(1 << 62, ())))
    return wide.to(x.dtype)


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, share: float, seed: int) -> Tensor:
        ctx.how = share, seed, 1 / (1 - share)
        return _dropped(x.contiguous(), *ctx.how)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, None, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _dropped(grad_outputs[0].contiguous(), *ctx.how), None, None


def _can_drop(x: Tensor) -> bool:
    if x.device.type != "cpu" or torch.compiler.is_compiling():
        return False
    return x.dtype in (torch.float32, torch.bfloat16) and x.numel() >= LEAST and compiles() and not plain()


def _dropped(x: Tensor, share: float, seed: int, factor: float) -> Tensor:
    y, held = torch.empty_like(x), torch.tensor([factor])
    given = (x.data_ptr(), y.data_ptr(), x.numel(), int(share * 2**32), seed, held.data_ptr())
    table = (ctypes.c_int64 * len(given))(*given)
    _loops()(ctypes.addressof(table), threaded=x.numel() >= WORTH)
    return y


@cache
def _loops() -> Loops:
    return Loops("foresay.kernels.dropout_loops")
