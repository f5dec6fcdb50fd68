"""softmax(s Q K') V of whole rows in training on a CPU, where torch's fused attention multiplies small pieces slowly.

Without a mask, each step seeing all, or all up to itself; rows of a multiple of sixteen steps and heads as wide as a
multiple of sixteen, for the loops (flash_loops.py) know vectors alone. They are of float32; bfloat16 is widened, which
is still faster than torch's. FORESAY_PLAIN=1 takes torch's.

q, k, v (B, N, T, d) -> (B, N, T, d)
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from foresay.kernels.switch import compiles, plain
from foresay.kernels.thin import Loops

WHOLE = 16  # numbers of a vector
MOST = 1024  # steps: on the way back all weights of a head are kept at a time
LEAST = 1 << 20  # weights of all heads that are worth it
TABLE = 44  # numbers that a call passes on, as the loops count them


def can_attend(q: Tensor, k: Tensor, v: Tensor) -> bool:
    """Whether these are such rows, and gradients are wanted of them."""
    if not torch.is_grad_enabled() or q.device.type != "cpu" or q.shape != k.shape or q.shape != v.shape:
        return False
    (rows, heads, steps, width), wanted = q.shape, q.requires_grad or k.requires_grad or v.requires_grad
    fits = steps <= MOST and not steps % WHOLE and not width % WHOLE and rows * heads * steps * steps >= LEAST
    here = all(one.dtype in (torch.float32, torch.bfloat16) and one.stride(3) == 1 for one in (q, k, v))
    return wanted and fits and here and compiles() and not plain() and not torch.compiler.is_compiling()


def attend(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool, drop: float = 0.0) -> Tensor:
    """The mean of the values that each step sees; with dropout on its weights, drawn by torch's generator."""
    if q.dtype != torch.float32:
        return attend(q.float(), k.float(), v.float(), scale, causal, drop).to(q.dtype)
    seed = int(torch.randint(1 << 62, ())) if drop else 0
    return _Attend.apply(q, k, v, How(scale, causal, drop, seed))  # pyright: ignore[reportReturnType]


class How(NamedTuple):
    """What to do with a row."""

    scale: float
    causal: bool
    drop: float
    seed: int


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, how: How) -> Tensor:
        o, lse = _like(q), q.new_empty(q.shape[:3])
        _call([q, k, v, o], lse, how, scratch=q.shape[3] * q.shape[2] + 8 * q.shape[2] + WHOLE)
        ctx.save_for_backward(q, k, v, o, lse)
        ctx.how = how
        return o

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        q, k, v, o, lse = ctx.saved_tensors
        do, (steps, width) = grad_outputs[0], q.shape[2:]
        do = do if do.stride(3) == 1 else do.contiguous()
        found = [_like(one) for one in (q, k, v)]
        _call([q, k, v, o, do, *found], lse, ctx.how, scratch=2 * steps * (width + steps))
        return *found, None


def _like(x: Tensor) -> Tensor:
    """Room for as many numbers, a step's heads side by side."""
    rows, heads, steps, width = x.shape
    return x.new_empty(rows, steps, heads, width).transpose(1, 2)


def _call(tensors: list[Tensor], lse: Tensor, how: How, scratch: int) -> None:
    """Tensors in the order of the loops: q, k, v, o, and on the way back dO, dQ, dK, dV."""
    threads, factors = torch.get_num_threads(), torch.tensor([how.scale, 1 / (1 - how.drop)])
    room = lse.new_empty(threads, scratch)
    given = [*tensors[0].shape, int(how.causal), int(len(tensors) > 4), int(how.drop * 2**32), how.seed]
    given += [factors.data_ptr(), lse.data_ptr(), room.data_ptr(), 4 * scratch]
    for one in tensors:
        given += [one.data_ptr(), *(4 * stride for stride in one.stride()[:3])]
    table = (ctypes.c_int64 * TABLE)(*given)
    _loops()(ctypes.addressof(table), threaded=True)


@cache
def _loops() -> Loops:
    return Loops("foresay.kernels.flash_loops")
