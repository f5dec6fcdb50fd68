"""A linear recurrence over time without a product between units, all of it in one call:

    h_t = a_t * h_{t-1} + b_t

Backwards is the same recurrence from the last step to the first: with G_t the gradient that reaches h_t from outside,

    g_t = G_t + conj(a_{t+1}) * g_{t+1},    db_t = g_t,    da_t = g_t * conj(h_{t-1}),    dh_0 = conj(a_1) * g_1

On a GPU one Triton kernel (`scan_triton`) goes over time. On a CPU, and on a GPU without Triton, there are two ways.
One goes step by step, each step one operation over all rows. The other doubles the reach of every step, log2 T times,
with two operations over everything: more work in fewer calls, so it wins where a step is small. All are free of
logarithms and divisions, so a may be 0, negative or complex.

a, b (T, ...), h0 (...) -> h (T, ...); float32, float64 or complex. `a` may be expanded: it is read as it lies.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from foresay.kernels.switch import plain

# Numbers in a step up to which doubling wins on a CPU: 64 in 128 steps 0.16 against 0.52 ms, 512 the same, 4096 slower.
SMALL = 256


def linear_scan(a: Tensor, b: Tensor, h0: Tensor) -> Tensor:
    """Every h_t; `a` is expanded to the shape of b."""
    a, h0 = a.expand_as(b), h0.expand_as(b[0]) if len(b) else h0
    if plain():
        return plain_linear_scan(a, b, h0)
    return _Scan.apply(a, b, h0) if len(b) else b  # pyright: ignore[reportReturnType]


def plain_linear_scan(a: Tensor, b: Tensor, h0: Tensor) -> Tensor:
    """The same, one step after the other, differentiable as often as wanted."""
    h, kept = h0, []
    for keep, add in zip(a.unbind(0), b.unbind(0), strict=True):
        h = keep * h + add
        kept.append(h)
    return torch.stack(kept) if kept else b


class _Scan(torch.autograd.Function):
    """`history` (T + 1, ...) holds h_0 too: what is read and what is written lie one step apart."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, h0: Tensor) -> Tensor:
        history = b.new_empty(len(b) + 1, *b.shape[1:])
        history[0] = h0
        sweep(a, b, history, reverse=False)
        ctx.save_for_backward(a, history)
        return history[1:]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        a, history = ctx.saved_tensors
        a, (outside,) = conjugate(a), outer
        g = torch.empty_like(history)
        g[-1] = outside[-1]
        sweep(a[1:], outside[:-1], g[1:], reverse=True)
        torch.mul(a[0], g[1], out=g[0])
        da = g[1:] * history[:-1].conj() if ctx.needs_input_grad[0] else None
        return da, g[1:], g[0]


def sweep(a: Tensor, b: Tensor, history: Tensor, *, reverse: bool) -> None:
    """Fills history (T + 1, ...) in place from its first entry on, or in reverse from its last one."""
    if not len(b):
        return
    if b.is_cuda and has_triton():
        from foresay.kernels.scan_triton import sweep_on_gpu

        sweep_on_gpu(a, b.contiguous(), history, reverse)
    elif b.is_cuda or b[0].numel() <= SMALL:
        sweep_by_doubling(a, b, history, reverse)
    else:
        sweep_by_steps(a, b, history, reverse)


def sweep_by_steps(a: Tensor, b: Tensor, history: Tensor, reverse: bool) -> None:
    """One operation for each step."""
    before, after = (history[1:], history[:-1]) if reverse else (history[:-1], history[1:])
    steps = list(zip(a.unbind(0), b.unbind(0), before.unbind(0), after.unbind(0), strict=True))
    for keep, add, old, new in reversed(steps) if reverse else steps:
        torch.addcmul(add, keep, old, out=new)


def sweep_by_doubling(a: Tensor, b: Tensor, history: Tensor, reverse: bool) -> None:
    """After each round h_t = a_t * h_{t-reach} + b_t with twice the reach; a step beyond the first sees the first."""
    if reverse:
        a, b = a.flip(0), b.flip(0)
    else:
        a, b = a.clone(memory_format=torch.contiguous_format), b.clone()
    b[0] += a[0] * history[-1 if reverse else 0]
    reach = 1
    while reach < len(b):
        b[reach:] += a[reach:] * b[:-reach]
        a[reach:] = a[reach:] * a[:-reach]
        reach *= 2
    if reverse:
        history[:-1] = b.flip(0)
    else:
        history[1:] = b


def as_laid(a: Tensor) -> Tensor:
    """A tensor without its expanded dimensions: those have one entry."""
    return a[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in a.stride())]


def conjugate(a: Tensor) -> Tensor:
    """conj(a), computed once for each number that is there."""
    return as_laid(a).conj_physical().expand_as(a) if a.is_complex() else a


@cache
def has_triton() -> bool:
    return importlib.util.find_spec("triton") is not None
