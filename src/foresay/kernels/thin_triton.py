"""A step of few rows through a Transformer's block on a GPU: layers with what stands around them, one kernel each.

    thin_linear:  y = act(W norm(x) + b) + residual        norm: LayerNorm or none; act: none, relu, gelu, gelu-tanh
    add_norm:     x + y, and LayerNorm of it

A step of few rows is a matter of how fast weights come from memory and of how many kernels are launched. For one row,
and for up to eight of float32, a program has a few outputs and all of their weights at once, and goes through the rows
with them. For up to 64 rows of half precision it goes through x and W in pieces, with the matrix units; the norm comes
after the sums, so that x is read once:

    W norm(x) + b = (sum_k W_k g_k x_k - m sum_k W_k g_k) / deviation + sum_k W_k s_k + b        g, s: gain and shift

Sums are float32. Weights are fetched before the kernel before has ended (early_triton.py).

x (B, K), weight (O, K), bias (O) -> y (B, O)
"""

from __future__ import annotations

from typing import Any

import torch
import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]
from torch import Tensor, nn

from foresay.kernels.early_triton import after_the_one_before, early_on

ACTS = {"none": 0, "relu": 1, "gelu": 2, "gelu-tanh": 3}
AT_ONCE = 8192  # weights that a program for one row holds
OUTS, PIECE, STAGES = (
    16,
    128,
    5,
)  # outputs of a program for several rows, numbers of a row at a time, pieces on their way
FEW, SEVERAL = 8, 64  # rows, of float32 and of half precision


@triton.jit
def _active(x, act: tl.constexpr):
    if act == 1:
        x = tl.maximum(x, 0.0)
    elif act == 2:
        x = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    elif act == 3:  # (1 + tanh u) / 2 = sigmoid 2u
        x = x * tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))
    return x


@triton.jit
def _linear(
    x, weight, bias, gain, shift, residual, y, rows, width, outs, eps, act: tl.constexpr, normed: tl.constexpr,
    biased: tl.constexpr, added: tl.constexpr, out_block: tl.constexpr, whole: tl.constexpr, early: tl.constexpr,
) -> None:  # fmt: skip
    o, k = tl.program_id(0) * out_block + tl.arange(0, out_block), tl.arange(0, whole)
    real, within = o < outs, k < width
    w = tl.load(weight + o[:, None].to(tl.int64) * width + k[None, :], mask=real[:, None] & within[None, :], other=0.0)
    g = tl.load(gain + k, mask=within & normed, other=0.0).to(tl.float32)
    s = tl.load(shift + k, mask=within & normed, other=0.0).to(tl.float32)
    b = tl.load(bias + o, mask=real & biased, other=0.0).to(tl.float32)
    after_the_one_before(early)
    for row in range(rows):
        one = tl.load(x + row * width + k, mask=within, other=0.0).to(tl.float32)
        if normed:
            off = tl.where(within, one - tl.sum(one, 0) / width, 0.0)
            one = off * tl.rsqrt(tl.sum(off * off, 0) / width + eps) * g + s
        total = _active(tl.sum(w.to(tl.float32) * one[None, :], 1) + b, act)
        if added:
            total += tl.load(residual + row * outs + o, mask=real, other=0.0).to(tl.float32)
        tl.store(y + row * outs + o, total, mask=real)


@triton.jit
def _ask_for(lines) -> None:
    """Brings lines of memory nearer; their values are not waited for."""
    tl.inline_asm_elementwise(
        "prefetch.global.L2 [$1]; mov.u32 $0, 0;", "=r,l", [lines], dtype=tl.int32, is_pure=False, pack=1
    )


@triton.jit
def _linear_rows(
    x, weight, bias, gain, shift, residual, y, rows, width, outs, eps, act: tl.constexpr, normed: tl.constexpr,
    biased: tl.constexpr, added: tl.constexpr, row_block: tl.constexpr, out_block: tl.constexpr, piece: tl.constexpr,
    stages: tl.constexpr, lines: tl.constexpr, early: tl.constexpr,
) -> None:  # fmt: skip
    o, r, k = tl.program_id(0) * out_block + tl.arange(0, out_block), tl.arange(0, row_block), tl.arange(0, piece)
    real, there = o < outs, r < rows
    if early:  # a line of memory has 64 numbers
        line = tl.minimum(tl.arange(0, lines) * 64, width - 1)
        _ask_for(weight + tl.minimum(o, outs - 1)[:, None].to(tl.int64) * width + line[None, :])
    after_the_one_before(early)
    total = tl.zeros((row_block, out_block), tl.float32)
    sums, squares = tl.zeros((row_block,), tl.float32), tl.zeros((row_block,), tl.float32)
    gains, shifts = tl.zeros((out_block,), tl.float32), tl.zeros((out_block,), tl.float32)
    for begin in tl.range(0, width, piece, num_stages=stages):
        within = begin + k < width
        from_w = weight + o[None, :].to(tl.int64) * width + begin + k[:, None]
        w = tl.load(from_w, mask=real[None, :] & within[:, None], other=0.0)
        a = tl.load(x + r[:, None] * width + begin + k[None, :], mask=there[:, None] & within[None, :], other=0.0)
        if normed:
            g = tl.load(gain + begin + k, mask=within, other=0.0).to(tl.float32)
            s = tl.load(shift + begin + k, mask=within, other=0.0).to(tl.float32)
            wide, full = w.to(tl.float32), a.to(tl.float32)
            w = (wide * g[:, None]).to(a.dtype)
            sums += tl.sum(full, 1)
            squares += tl.sum(full * full, 1)
            gains += tl.sum(w.to(tl.float32), 0)
            shifts += tl.sum(wide * s[:, None], 0)
        total = tl.dot(a, w, total)
    if normed:
        mean = sums / width
        scale = tl.rsqrt(tl.maximum(squares / width - mean * mean, 0.0) + eps)
        total = scale[:, None] * (total - mean[:, None] * gains[None, :]) + shifts[None, :]
    total += tl.load(bias + o, mask=real & biased, other=0.0).to(tl.float32)[None, :]
    total = _active(total, act)
    to, kept = r[:, None] * outs + o[None, :], there[:, None] & real[None, :]
    if added:
        total += tl.load(residual + to, mask=kept, other=0.0).to(tl.float32)
    tl.store(y + to, total, mask=kept)


@triton.jit
def _add_norm(
    x, y, gain, shift, total, normed, width, eps, added: tl.constexpr, whole: tl.constexpr, early: tl.constexpr
) -> None:
    row, k = tl.program_id(0), tl.arange(0, whole)
    within = k < width
    g = tl.load(gain + k, mask=within, other=0.0).to(tl.float32)
    s = tl.load(shift + k, mask=within, other=0.0).to(tl.float32)
    after_the_one_before(early)
    one = tl.load(x + row * width + k, mask=within, other=0.0).to(tl.float32)
    if added:
        one += tl.load(y + row * width + k, mask=within, other=0.0).to(tl.float32)
        tl.store(total + row * width + k, one, mask=within)
    off = tl.where(within, one - tl.sum(one, 0) / width, 0.0)
    one = off * tl.rsqrt(tl.sum(off * off, 0) / width + eps)
    tl.store(normed + row * width + k, one * g + s, mask=within)


def few(x: Tensor) -> bool:
    """Whether these are few enough rows."""
    return len(x) <= (SEVERAL if x.dtype in (torch.bfloat16, torch.float16) else FEW)


def thin_linear(
    x: Tensor, layer: nn.Linear, norm: nn.LayerNorm | None = None, act: str = "none", residual: Tensor | None = None
) -> Tensor:
    """For few rows that lie whole."""
    rows, width, outs, weight = *x.shape, layer.out_features, layer.weight
    y = torch.empty(rows, outs, dtype=x.dtype, device=x.device)
    gain, shift = (x, x) if norm is None else (norm.weight, norm.bias)
    given = (
        x, weight, weight if layer.bias is None else layer.bias, gain, shift, x if residual is None else residual, y,
        rows, width, outs, 0.0 if norm is None else norm.eps, ACTS[act], norm is not None, layer.bias is not None,
        residual is not None,
    )  # fmt: skip
    one: Any = _linear
    several: Any = _linear_rows
    whole = triton.next_power_of_2(width)
    if rows == 1 or x.dtype == torch.float32:
        out_block = max(AT_ONCE // whole // (2 if outs < 2048 else 1), 1)
        one[(triton.cdiv(outs, out_block),)](*given, out_block, whole, num_warps=4, **early_on(x.device))
    else:
        row_block, lines = max(triton.next_power_of_2(rows), 16), max(whole // 64, 1)
        several[(triton.cdiv(outs, OUTS),)](
            *given, row_block, OUTS, PIECE, STAGES, lines, num_warps=4, **early_on(x.device)
        )
    return y


def add_norm(x: Tensor, y: Tensor | None, norm: nn.LayerNorm) -> tuple[Tensor, Tensor]:
    """x + y, or x where there is no y, and LayerNorm of it."""
    total, normed = x if y is None else torch.empty_like(x), torch.empty_like(x)
    whole = triton.next_power_of_2(x.shape[1])
    launch: Any = _add_norm
    launch[(len(x),)](
        x, x if y is None else y, norm.weight, norm.bias, total, normed, x.shape[1], norm.eps, y is not None, whole,
        num_warps=4, **early_on(x.device),
    )  # fmt: skip
    return total, normed
