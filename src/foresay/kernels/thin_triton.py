"""A step of few rows through a Transformer's block on a GPU: layers with what stands around them, one kernel each.

    thin_linear:  y = act(W norm(x) + b) + residual        norm: LayerNorm or none; act: none, relu, gelu, gelu-tanh
    product:      y = act(W norm(x) + b)
    added:        x + W y + b
    add_norm:     x + y, and LayerNorm of it

A step of few rows is a matter of how fast weights come from memory and of how many kernels are launched. For one row,
and for up to eight of float32, a program has a few outputs and all of their weights at once, and goes through the rows
with them. For up to 64 rows of half precision the matrix units multiply. Where outputs are few and x is wide, programs
share a sum, and the last of them adds their parts. Who adds to the stream also leaves the mean and the squares of its
columns, so that who norms it need not look at whole rows first.

Sums are float32. Weights are fetched before the kernel before has ended (early_triton.py).

x (B, K), weight (O, K), bias (O) -> y (B, O)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]
from torch import Tensor, nn

from foresay.kernels.early_triton import after_the_one_before, early_on

ACTS = {"none": 0, "relu": 1, "gelu": 2, "gelu-tanh": 3}
AT_ONCE = 8192  # weights that a program for one row holds
OUTS, PIECE = 32, 256  # outputs of a program for several rows, and numbers of a row at a time
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
def _weights_of(weight, o, first, end, width, piece: tl.constexpr):
    """Some rows of W' (piece, O), zeros from `end` on."""
    k = first + tl.arange(0, piece)
    return tl.load(weight + o[None, :].to(tl.int64) * width + k[:, None], mask=(k < end)[:, None], other=0.0)


@triton.jit
def _rows_of(x, r, there, first, width, piece: tl.constexpr):
    """Some columns of x (B, piece)."""
    k = first + tl.arange(0, piece)
    return tl.load(x + r[:, None] * width + k[None, :], mask=there[:, None] & (k < width)[None, :], other=0.0)


@triton.jit
def _numbers_of(vector, first, width, normed: tl.constexpr, piece: tl.constexpr):
    k = first + tl.arange(0, piece)
    return tl.load(vector + k, mask=(k < width) & normed, other=0.0).to(tl.float32)


@triton.jit
def _mean_and_scale(seen, r, there, rows, width, eps, blocks, out_block: tl.constexpr, most: tl.constexpr):
    """Of whole rows, from the mean and the squares around it of each block of columns."""
    n = tl.arange(0, most)
    at = seen + (n[None, :] * rows + r[:, None]) * 2
    real = there[:, None] & (n < blocks)[None, :]
    means, squares = tl.load(at, mask=real, other=0.0), tl.load(at + 1, mask=real, other=0.0)
    mean = tl.sum(means, 1) / blocks
    off = tl.where(real, means - mean[:, None], 0.0)
    return mean, tl.rsqrt((tl.sum(squares, 1) + out_block * tl.sum(off * off, 1)) / width + eps)


@triton.jit
def _product(
    x, weight, bias, gain, shift, seen, residual, parts, arrived, y, found, rows, width, outs, deep, blocks, eps,
    act: tl.constexpr, biased: tl.constexpr, normed: tl.constexpr, added: tl.constexpr, row_block: tl.constexpr,
    out_block: tl.constexpr, piece: tl.constexpr, pieces: tl.constexpr, most: tl.constexpr, early: tl.constexpr,
) -> None:  # fmt: skip
    split, splits = tl.program_id(1), tl.num_programs(1)
    o, r = tl.program_id(0) * out_block + tl.arange(0, out_block), tl.arange(0, row_block)
    there, first = r < rows, split * deep
    end = tl.minimum(first + deep, width)
    w0 = _weights_of(weight, o, first, end, width, piece)
    g0, s0 = _numbers_of(gain, first, width, normed, piece), _numbers_of(shift, first, width, normed, piece)
    w1, w2, g1, g2, s1, s2 = w0, w0, g0, g0, s0, s0
    if pieces > 1:
        w1, g1 = (
            _weights_of(weight, o, first + piece, end, width, piece),
            _numbers_of(gain, first + piece, width, normed, piece),
        )
        s1 = _numbers_of(shift, first + piece, width, normed, piece)
    if pieces > 2:
        w2, g2 = (
            _weights_of(weight, o, first + 2 * piece, end, width, piece),
            _numbers_of(gain, first + 2 * piece, width, normed, piece),
        )
        s2 = _numbers_of(shift, first + 2 * piece, width, normed, piece)
    b = tl.load(bias + o, mask=(o < outs) & biased & (split == 0), other=0.0).to(tl.float32)
    after_the_one_before(early)
    x0 = _rows_of(x, r, there, first, width, piece)  # all are asked for before the first is waited for
    x1, x2 = x0, x0
    if pieces > 1:
        x1 = _rows_of(x, r, there, first + piece, width, piece)
    if pieces > 2:
        x2 = _rows_of(x, r, there, first + 2 * piece, width, piece)
    if normed:
        mean, scale = _mean_and_scale(seen, r, there, rows, width, eps, blocks, out_block, most)
        x0 = ((x0.to(tl.float32) - mean[:, None]) * scale[:, None] * g0[None, :] + s0[None, :]).to(x0.dtype)
        x1 = ((x1.to(tl.float32) - mean[:, None]) * scale[:, None] * g1[None, :] + s1[None, :]).to(x0.dtype)
        x2 = ((x2.to(tl.float32) - mean[:, None]) * scale[:, None] * g2[None, :] + s2[None, :]).to(x0.dtype)
    total = tl.dot(x0, w0, tl.zeros((row_block, out_block), tl.float32) + b[None, :])
    if pieces > 1:
        total = tl.dot(x1, w1, total)
    if pieces > 2:
        total = tl.dot(x2, w2, total)
    for begin in range(first + 3 * piece, end, piece):
        w = _weights_of(weight, o, begin, end, width, piece)
        total = tl.dot(_rows_of(x, r, there, begin, width, piece), w, total)
    here = r[:, None] * outs + o[None, :]
    if not added:
        tl.store(y + here, _active(total, act), mask=there[:, None])
        return
    last = True
    if splits > 1:
        tl.store(parts + split * rows * outs + here, total, mask=there[:, None])
        tl.debug_barrier()  # all of the program has written before it is counted
        last = tl.atomic_add(arrived + tl.program_id(0), 1) == splits - 1
    if last:  # of those that share these outputs: it adds the parts, always in the same order
        if splits > 1:
            total = tl.zeros((row_block, out_block), tl.float32)
            for part in range(splits):
                total += tl.load(
                    parts + part * rows * outs + here, mask=there[:, None], other=0.0, cache_modifier=".cg"
                )
        total += tl.load(residual + here, mask=there[:, None], other=0.0).to(tl.float32)
        kept = total.to(y.dtype.element_ty)
        tl.store(y + here, kept, mask=there[:, None])
        total = kept.to(tl.float32)
        mean = tl.sum(total, 1) / out_block
        off = total - mean[:, None]
        at = found + (tl.program_id(0) * rows + r) * 2
        tl.store(at, mean, mask=there)
        tl.store(at + 1, tl.sum(off * off, 1), mask=there)


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
    """Whether `thin_linear` is for these rows."""
    return len(x) <= (FEW if x.dtype == torch.float32 else 1)


def several(x: Tensor, *widths: int) -> bool:
    """Whether `product` is for these rows, and for layers so wide: whole blocks of columns, a norm over few pieces."""
    half = x.dtype in (torch.bfloat16, torch.float16)
    return half and len(x) <= SEVERAL and x.shape[1] <= 3 * PIECE and not any(width % OUTS for width in widths)


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


class Stream(NamedTuple):
    """x (B, H), and of each block of 32 columns the mean and the squares around it, (H / 32, B, 2)."""

    x: Tensor
    seen: Tensor


def product(x: Tensor | Stream, layer: nn.Linear, act: str = "none", norm: nn.LayerNorm | None = None) -> Tensor:
    """act(W x + b) for several rows that lie whole; W norm(x) + b of a stream."""
    x, seen = x if isinstance(x, Stream) else (x, x)
    y = torch.empty(len(x), layer.out_features, dtype=x.dtype, device=x.device)
    _launch(x, layer, y, seen, norm, act, None, None, y)
    return y


def added(x: Tensor, layer: nn.Linear, before: Tensor, arrived: Tensor) -> Stream:
    """before + W x + b; `arrived` has a zero for every 32 outputs."""
    after = Stream(torch.empty_like(before), seen_of(before))
    _launch(x, layer, after.x, after.seen, None, "none", before, arrived, after.seen)
    return after


def seen_of(x: Tensor) -> Tensor:
    return torch.empty(x.shape[1] // OUTS, len(x), 2, dtype=torch.float32, device=x.device)


def _launch(
    x: Tensor, layer: nn.Linear, y: Tensor, seen: Tensor, norm: nn.LayerNorm | None, act: str, before: Tensor | None,
    arrived: Tensor | None, found: Tensor,
) -> None:  # fmt: skip
    rows, width, outs, weight = *x.shape, layer.out_features, layer.weight
    blocks, deep = triton.cdiv(outs, OUTS), width
    if before is not None:
        deep = 3 * PIECE if blocks * triton.cdiv(width, 3 * PIECE) >= ENOUGH else PIECE
    splits = triton.cdiv(width, deep)
    parts = torch.empty(splits, rows, outs, dtype=torch.float32, device=x.device) if splits > 1 else y
    gain, shift = (x, x) if norm is None else (norm.weight, norm.bias)
    launch: Any = _product
    launch[(blocks, splits)](
        x, weight, weight if layer.bias is None else layer.bias, gain, shift, seen, x if before is None else before,
        parts, x if arrived is None else arrived, y, found, rows, width, outs, deep, width // OUTS,
        0.0 if norm is None else norm.eps, ACTS[act], layer.bias is not None, norm is not None, before is not None,
        max(triton.next_power_of_2(rows), 16), OUTS, PIECE, min(triton.cdiv(deep, PIECE), 3),
        triton.next_power_of_2(width // OUTS), num_warps=4, **early_on(x.device),
    )  # fmt: skip


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
