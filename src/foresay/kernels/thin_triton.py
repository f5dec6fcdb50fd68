"""A step of few rows through a Transformer's block on a GPU: layers with what stands around them, one kernel each.

    thin_linear:  y = act(W norm(x) + b) + residual        norm: LayerNorm or none; act: none, relu, gelu, gelu-tanh
    add_norm:     x + y, and LayerNorm of it

For up to eight rows a step is a matter of how fast weights come from memory and of how many kernels are launched. So a
program has a few outputs and all of their weights at once, and goes through the rows with them. Sums are float32.

x (B, K), weight (O, K), bias (O) -> y (B, O)
"""

from __future__ import annotations

from typing import Any

import torch
import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]
from torch import Tensor, nn
from triton.language.extra import libdevice  # pyright: ignore[reportMissingImports]

ACTS = {"none": 0, "relu": 1, "gelu": 2, "gelu-tanh": 3}
AT_ONCE = 8192  # weights that a program holds


@triton.jit
def _linear(
    x, weight, bias, gain, shift, residual, y, rows, width, outs, eps, act: tl.constexpr, normed: tl.constexpr,
    biased: tl.constexpr, added: tl.constexpr, out_block: tl.constexpr, whole: tl.constexpr,
) -> None:  # fmt: skip
    o, k = tl.program_id(0) * out_block + tl.arange(0, out_block), tl.arange(0, whole)
    real, within = o < outs, k < width
    w = tl.load(weight + o[:, None].to(tl.int64) * width + k[None, :], mask=real[:, None] & within[None, :], other=0.0)
    g = tl.load(gain + k, mask=within & normed, other=0.0).to(tl.float32)
    s = tl.load(shift + k, mask=within & normed, other=0.0).to(tl.float32)
    b = tl.load(bias + o, mask=real & biased, other=0.0).to(tl.float32)
    for row in range(rows):
        one = tl.load(x + row * width + k, mask=within, other=0.0).to(tl.float32)
        if normed:
            off = tl.where(within, one - tl.sum(one, 0) / width, 0.0)
            one = off * tl.rsqrt(tl.sum(off * off, 0) / width + eps) * g + s
        total = tl.sum(w.to(tl.float32) * one[None, :], 1) + b
        if act == 1:
            total = tl.maximum(total, 0.0)
        elif act == 2:
            total = 0.5 * total * (1.0 + libdevice.erf(total * 0.7071067811865476))
        elif act == 3:
            inner = 0.7978845608028654 * (total + 0.044715 * total * total * total)
            total = 0.5 * total * (1.0 + libdevice.tanh(inner))
        if added:
            total += tl.load(residual + row * outs + o, mask=real, other=0.0).to(tl.float32)
        tl.store(y + row * outs + o, total, mask=real)


@triton.jit
def _add_norm(x, y, gain, shift, total, normed, width, eps, added: tl.constexpr, whole: tl.constexpr) -> None:
    row, k = tl.program_id(0), tl.arange(0, whole)
    within = k < width
    one = tl.load(x + row * width + k, mask=within, other=0.0).to(tl.float32)
    if added:
        one += tl.load(y + row * width + k, mask=within, other=0.0).to(tl.float32)
        tl.store(total + row * width + k, one, mask=within)
    off = tl.where(within, one - tl.sum(one, 0) / width, 0.0)
    one = off * tl.rsqrt(tl.sum(off * off, 0) / width + eps)
    g = tl.load(gain + k, mask=within, other=0.0).to(tl.float32)
    s = tl.load(shift + k, mask=within, other=0.0).to(tl.float32)
    tl.store(normed + row * width + k, one * g + s, mask=within)


def thin_linear(
    x: Tensor, layer: nn.Linear, norm: nn.LayerNorm | None = None, act: str = "none", residual: Tensor | None = None
) -> Tensor:
    """For few rows that lie whole."""
    weight, outs, whole = layer.weight, layer.out_features, triton.next_power_of_2(x.shape[1])
    y = torch.empty(len(x), outs, dtype=x.dtype, device=x.device)
    out_block = max(AT_ONCE // whole // (2 if outs < 2048 else 1), 1)
    gain, shift = (x, x) if norm is None else (norm.weight, norm.bias)
    launch: Any = _linear
    launch[(triton.cdiv(outs, out_block),)](
        x, weight, weight if layer.bias is None else layer.bias, gain, shift, x if residual is None else residual, y,
        len(x), x.shape[1], outs, 0.0 if norm is None else norm.eps, ACTS[act], norm is not None,
        layer.bias is not None, residual is not None, out_block, whole, num_warps=4,
    )  # fmt: skip
    return y


def add_norm(x: Tensor, y: Tensor | None, norm: nn.LayerNorm) -> tuple[Tensor, Tensor]:
    """x + y, or x where there is no y, and LayerNorm of it."""
    total, normed = x if y is None else torch.empty_like(x), torch.empty_like(x)
    whole = triton.next_power_of_2(x.shape[1])
    launch: Any = _add_norm
    launch[(len(x),)](
        x, x if y is None else y, norm.weight, norm.bias, total, normed, x.shape[1], norm.eps, y is not None, whole,
        num_warps=4,
    )  # fmt: skip
    return total, normed
