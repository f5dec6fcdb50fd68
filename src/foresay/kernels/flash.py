"""softmax(s Q K') V in training on a CPU, where torch's fused attention multiplies small pieces slowly.

Each step sees all slots, all up to itself, or a span of its own, and computes no more: documents packed into a row,
padding, a window. Heads are as wide as a multiple of sixteen, for the loops (flash_loops.py) know vectors alone. They
are of float32; bfloat16 is widened, which is still faster than torch's. FORESAY_PLAIN=1 takes torch's.

q (B, N, T, d), k, v (B, N, C, d), spans (B, T, 2) -> (B, N, T, d)
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from foresay.kernels.switch import compiles, plain
from foresay.kernels.thin import Loops

WHOLE = 16  # numbers of a vector
ROWS = 8  # steps of a piece
MOST = 1024  # steps and slots: on the way back all weights of a head are kept at a time
LEAST = 1 << 15  # weights of all heads that are worth it
TABLE = 46  # numbers that a call passes on, as the loops count them


def can_attend(q: Tensor, k: Tensor, v: Tensor) -> bool:
    """Whether these are such heads, and gradients are wanted of them."""
    if not torch.is_grad_enabled() or q.device.type != "cpu" or k.shape != v.shape:
        return False
    (rows, heads, steps, width), slots = q.shape, k.shape[2]
    wanted = q.requires_grad or k.requires_grad or v.requires_grad
    fits = k.shape == (rows, heads, slots, width) and 0 < steps <= MOST and 0 < slots <= MOST and not width % WHOLE
    fits = fits and rows * heads * steps * slots >= LEAST
    here = all(one.dtype in (torch.float32, torch.bfloat16) and one.stride(3) == 1 for one in (q, k, v))
    return wanted and fits and here and compiles() and not plain() and not torch.compiler.is_compiling()


def attend(
    q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool, drop: float = 0.0, spans: Tensor | None = None
) -> Tensor:
    """The mean of the values that each step sees; with dropout on its weights, drawn by torch's generator."""
    if q.dtype != torch.float32:
        return attend(q.float(), k.float(), v.float(), scale, causal, drop, spans).to(q.dtype)
    seed = int(torch.randint(1 << 62, ())) if drop else 0
    spans = None if spans is None else spans.expand(len(q), q.shape[2], 2).contiguous()
    return _Attend.apply(q, k, v, How(scale, causal, drop, seed, spans))  # pyright: ignore[reportReturnType]


def spans_of(seen: Tensor) -> Tensor | None:
    """The first slot that each step sees and the one after the last, of a mask (.., T, C); None if one has holes."""
    edges = F.pad(seen, (1, 1)).diff()  # where it begins, and where it ends
    if not bool((edges.sum(-1) <= 2).all()):
        return None
    number, low = seen.sum(-1), seen.to(torch.uint8).argmax(-1)
    return torch.stack([low, low + number], -1)


class How(NamedTuple):
    """What to do with a row."""

    scale: float
    causal: bool
    drop: float
    seed: int
    spans: Tensor | None  # int64, whole


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, how: How) -> Tensor:
        o, lse = _like(q), q.new_empty(q.shape[:3])
        width, slots = q.shape[3], _up_to(k.shape[2], WHOLE)
        _call([q, k, v, o], lse, how, scratch=(width + ROWS) * slots + ROWS * width + ROWS)
        ctx.save_for_backward(q, k, v, o, lse)
        ctx.how = how
        return o

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        q, k, v, o, lse = ctx.saved_tensors
        do, width, steps, slots = grad_outputs[0], q.shape[3], _up_to(q.shape[2], ROWS), _up_to(k.shape[2], WHOLE)
        do = do if do.stride(3) == 1 else do.contiguous()
        found = [_like(one) for one in (q, k, v)]
        _call([q, k, v, o, do, *found], lse, ctx.how, scratch=2 * slots * (width + steps) + 2 * ROWS * width + steps)
        return *found, None


def _up_to(number: int, of: int) -> int:
    """The next multiple."""
    return -(-number // of) * of


def _like(x: Tensor) -> Tensor:
    """Room for as many numbers, a step's heads side by side."""
    rows, heads, steps, width = x.shape
    return x.new_empty(rows, steps, heads, width).transpose(1, 2)


def _call(tensors: list[Tensor], lse: Tensor, how: How, scratch: int) -> None:
    """Tensors in the order of the loops: q, k, v, o, and on the way back dO, dQ, dK, dV."""
    threads, factors = torch.get_num_threads(), torch.tensor([how.scale, 1 / (1 - how.drop)])
    room = lse.new_empty(threads, scratch)
    (rows, heads, steps, width), slots = tensors[0].shape, tensors[1].shape[2]
    spans = 0 if how.spans is None else how.spans.data_ptr()
    given = [rows, heads, steps, slots, width, int(how.causal), spans]
    given += [int(len(tensors) > 4), int(how.drop * 2**32), how.seed]
    given += [factors.data_ptr(), lse.data_ptr(), room.data_ptr(), 4 * scratch]
    for one in tensors:
        given += [one.data_ptr(), *(4 * stride for stride in one.stride()[:3])]
    table = (ctypes.c_int64 * TABLE)(*given)
    _loops()(ctypes.addressof(table), threaded=True)


@cache
def _loops() -> Loops:
    return Loops("foresay.kernels.flash_loops")
