"""A linear layer for few rows, on a GPU, with what stands around it in a Transformer's block: one pass over weights.

    y = act(W norm(x) + b) + residual        norm: LayerNorm or none; act: none, relu, gelu, gelu-tanh; sums in float32

A step of one symbol for up to eight rows is a matter of how fast weights come from memory and of how many kernels are
launched; this one keeps both small. x (B, K), weight (O, K), bias (O) -> y (B, O)
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor, nn
from triton.language.extra import libdevice

MOST = 8  # rows
ACTS = {"none": 0, "relu": 1, "gelu": 2, "gelu-tanh": 3}


@triton.jit
def _kernel(
    x, weight, bias, gain, shift, residual, y, rows, width, outs,
    eps, act: tl.constexpr, normed: tl.constexpr, biased: tl.constexpr, added: tl.constexpr,
    row_block: tl.constexpr, out_block: tl.constexpr, some: tl.constexpr, whole: tl.constexpr,
) -> None:  # fmt: skip
    o = tl.program_id(0) * out_block + tl.arange(0, out_block)
    b = tl.arange(0, row_block)
    mean = tl.zeros([row_block], tl.float32)
    scale = tl.full([row_block], 1.0, tl.float32)
    if normed:
        all_columns = tl.arange(0, whole)
        inside = (b < rows)[:, None] & (all_columns < width)[None, :]
        row = tl.load(x + b[:, None] * width + all_columns[None, :], mask=inside, other=0.0).to(tl.float32)
        mean = tl.sum(row, 1) / width
        off = tl.where(inside, row - mean[:, None], 0.0)
        scale = tl.rsqrt(tl.sum(off * off, 1) / width + eps)
    total = tl.zeros([row_block, out_block], tl.float32)
    for begin in range(0, width, some):
        k = begin + tl.arange(0, some)
        within = k < width
        w = tl.load(
            weight + o[:, None].to(tl.int64) * width + k[None, :], mask=(o < outs)[:, None] & within[None, :], other=0.0
        ).to(tl.float32)
        part = tl.load(x + b[:, None] * width + k[None, :], mask=(b < rows)[:, None] & within[None, :], other=0.0).to(
            tl.float32
        )
        if normed:
            g = tl.load(gain + k, mask=within, other=0.0).to(tl.float32)
            s = tl.load(shift + k, mask=within, other=0.0).to(tl.float32)
            part = (part - mean[:, None]) * scale[:, None] * g[None, :] + s[None, :]
        total += tl.sum(part[:, None, :] * w[None, :, :], 2)
    if biased:
        total += tl.load(bias + o, mask=o < outs, other=0.0).to(tl.float32)[None, :]
    if act == 1:
        total = tl.maximum(total, 0.0)
    elif act == 2:
        total = 0.5 * total * (1.0 + libdevice.erf(total * 0.7071067811865476))
    elif act == 3:
        inner = 0.7978845608028654 * (total + 0.044715 * total * total * total)
        total = 0.5 * total * (1.0 + libdevice.tanh(inner))
    to, real = b[:, None] * outs + o[None, :], (b < rows)[:, None] & (o < outs)[None, :]
    if added:
        total += tl.load(residual + to, mask=real, other=0.0).to(tl.float32)
    tl.store(y + to, total, mask=real)


def thin_linear(
    x: Tensor, layer: nn.Linear, norm: nn.LayerNorm | None = None, act: str = "none", residual: Tensor | None = None
) -> Tensor:
    """For at most eight rows that lie whole."""
    weight, outs = layer.weight, layer.out_features
    y = torch.empty(len(x), outs, dtype=x.dtype, device=x.device)
    out_block = 8 if outs < 2048 else 16
    row_block = triton.next_power_of_2(len(x))
    some = max(2048 // (out_block * row_block) * 8, 64) if row_block > 1 else 256
    gain, shift = (x, x) if norm is None else (norm.weight, norm.bias)
    _kernel[(triton.cdiv(outs, out_block),)](
        x, weight, weight if layer.bias is None else layer.bias, gain, shift, x if residual is None else residual, y,
        len(x), x.shape[1], outs, 0.0 if norm is None else norm.eps, ACTS[act], norm is not None,
        layer.bias is not None, residual is not None, row_block, out_block, some, triton.next_power_of_2(x.shape[1]),
        num_warps=4,
    )  # fmt: skip
    return y
