"""A step of few rows through a Transformer's block on a GPU: layers with what stands around them, one kernel each.

    thin_linear:  y = act(W norm(x) + b) + residual        norm: LayerNorm or none; act: none, relu, gelu, gelu-tanh
    product:      y = act(W x + b), or parts of W x + b over pieces of x
    add_norm:     x + y, and LayerNorm of it; y perhaps in parts

A step of few rows is a matter of how fast weights come from memory and of how many kernels are launched. For one row,
and for up to eight of float32, a program has a few outputs and all of their weights at once, and goes through the rows
with them. For up to 64 rows of half precision the matrix units multiply; where outputs are few and x is wide, programs
share the sum between them, and what adds to the stream adds their parts.

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
OUTS, PIECE = 32, 256  # outputs of a program for several rows, and numbers of a row at a time
WARPS = 4
ENOUGH = 96  # programs that keep a GPU busy
FEW, SEVERAL = 8, 64  # rows


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
def _piece_of(weight, o, real, first, end, width, piece: tl.constexpr):
    """Some rows of W' (piece, O), zeros from `end` on."""
    k = first + tl.arange(0, piece)
    from_w = weight + o[None, :].to(tl.int64) * width + k[:, None]
    return tl.load(from_w, mask=real[None, :] & (k < end)[:, None], other=0.0)


@triton.jit
def _rows_of(x, r, there, first, width, piece: tl.constexpr):
    """Some columns of x (B, piece)."""
    k = first + tl.arange(0, piece)
    return tl.load(x + r[:, None] * width + k[None, :], mask=there[:, None] & (k < width)[None, :], other=0.0)


@triton.jit
def _product(
    x, weight, bias, y, rows, width, outs, deep, act: tl.constexpr, biased: tl.constexpr, row_block: tl.constexpr,
    out_block: tl.constexpr, piece: tl.constexpr, pieces: tl.constexpr, early: tl.constexpr,
) -> None:  # fmt: skip
    split = tl.program_id(1)
    o, r = tl.program_id(0) * out_block + tl.arange(0, out_block), tl.arange(0, row_block)
    real, there = o < outs, r < rows
    first = split * deep
    end = tl.minimum(first + deep, width)
    w0 = _piece_of(weight, o, real, first, end, width, piece)
    w1, w2 = w0, w0
    if pieces > 1:
        w1 = _piece_of(weight, o, real, first + piece, end, width, piece)
    if pieces > 2:
        w2 = _piece_of(weight, o, real, first + 2 * piece, end, width, piece)
    b = tl.load(bias + o, mask=real & biased & (split == 0), other=0.0).to(tl.float32)
    after_the_one_before(early)
    x0 = _rows_of(x, r, there, first, width, piece)  # all are asked for before the first is waited for
    x1, x2 = x0, x0
    if pieces > 1:
        x1 = _rows_of(x, r, there, first + piece, width, piece)
    if pieces > 2:
        x2 = _rows_of(x, r, there, first + 2 * piece, width, piece)
    total = tl.dot(x0, w0, tl.zeros((row_block, out_block), tl.float32) + b[None, :])
    if pieces > 1:  # sums of their own: no product waits for the one before
        total += tl.dot(x1, w1, tl.zeros((row_block, out_block), tl.float32))
    if pieces > 2:
        total += tl.dot(x2, w2, tl.zeros((row_block, out_block), tl.float32))
    for begin in range(first + 3 * piece, end, piece):
        w = _piece_of(weight, o, real, begin, end, width, piece)
        total = tl.dot(_rows_of(x, r, there, begin, width, piece), w, total)
    to = (split * rows + r[:, None]) * outs + o[None, :]
    tl.store(y + to, _active(total, act), mask=there[:, None] & real[None, :])


@triton.jit
def _add_norm(
    x, y, gain, shift, total, normed, width, eps, parts: tl.constexpr, whole: tl.constexpr, early: tl.constexpr,
) -> None:  # fmt: skip
    row, k = tl.program_id(0), tl.arange(0, whole)
    within = k < width
    g = tl.load(gain + k, mask=within, other=0.0).to(tl.float32)
    s = tl.load(shift + k, mask=within, other=0.0).to(tl.float32)
    after_the_one_before(early)
    one = tl.load(x + row * width + k, mask=within, other=0.0).to(tl.float32)
    for part in tl.static_range(parts):
        at = (part * tl.num_programs(0) + row) * width + k
        one += tl.load(y + at, mask=within, other=0.0).to(tl.float32)
    if parts > 0:
        tl.store(total + row * width + k, one, mask=within)
    off = tl.where(within, one - tl.sum(one, 0) / width, 0.0)
    one = off * tl.rsqrt(tl.sum(off * off, 0) / width + eps)
    tl.store(normed + row * width + k, one * g + s, mask=within)


def few(x: Tensor) -> bool:
    """Whether `thin_linear` is for these rows."""
    return len(x) <= (FEW if x.dtype == torch.float32 else 1)


def several(x: Tensor) -> bool:
    """Whether `product` is for these rows."""
    return x.dtype in (torch.bfloat16, torch.float16) and len(x) <= SEVERAL


def thin_linear(
    x: Tensor, layer: nn.Linear, norm: nn.LayerNorm | None = None, act: str = "none", residual: Tensor | None = None
) -> Tensor:
    """For few rows that lie whole."""
    rows, width, outs, weight = *x.shape, layer.out_features, layer.weight
    y = torch.empty(rows, outs, dtype=x.dtype, device=x.device)
    gain, shift = (x, x) if norm is None else (norm.weight, norm.bias)
    whole = triton.next_power_of_2(width)
    out_block = max(AT_ONCE // whole // (2 if outs < 2048 else 1), 1)
    launch: Any = _linear
    launch[(triton.cdiv(outs, out_block),)](
        x, weight, weight if layer.bias is None else layer.bias, gain, shift, x if residual is None else residual, y,
        rows, width, outs, 0.0 if norm is None else norm.eps, ACTS[act], norm is not None, layer.bias is not None,
        residual is not None, out_block, whole, num_warps=4, **early_on(x.device),
    )  # fmt: skip
    return y


def product(x: Tensor, layer: nn.Linear, act: str = "none", *, parts: bool = False) -> Tensor:
    """act(W x + b) for several rows that lie whole; in parts (P, B, O) of float32, whose sum it is, if that may be."""
    rows, width, outs, weight = *x.shape, layer.out_features, layer.weight
    blocks, deep = triton.cdiv(outs, OUTS), width
    if parts:
        deep = 3 * PIECE if blocks * triton.cdiv(width, 3 * PIECE) >= ENOUGH else PIECE
    number = triton.cdiv(width, deep)
    y = torch.empty(number, rows, outs, dtype=torch.float32 if number > 1 else x.dtype, device=x.device)
    launch: Any = _product
    launch[(blocks, number)](
        x, weight, weight if layer.bias is None else layer.bias, y, rows, width, outs, deep, ACTS[act],
        layer.bias is not None, max(triton.next_power_of_2(rows), 16), OUTS, PIECE,
        min(triton.cdiv(deep, PIECE), 3), num_warps=WARPS, **early_on(x.device),
    )  # fmt: skip
    return y if parts else y[0]


def add_norm(x: Tensor, y: Tensor | None, norm: nn.LayerNorm) -> tuple[Tensor, Tensor]:
    """x + y, or x where there is no y, and LayerNorm of it; y may be in parts (P, B, H)."""
    total, normed = x if y is None else torch.empty_like(x), torch.empty_like(x)
    whole, parts = triton.next_power_of_2(x.shape[1]), 0 if y is None else len(y) if y.ndim == 3 else 1
    launch: Any = _add_norm
    launch[(len(x),)](
        x, x if y is None else y, norm.weight, norm.bias, total, normed, x.shape[1], norm.eps, parts, whole,
        num_warps=4, **early_on(x.device),
    )  # fmt: skip
    return total, normed
