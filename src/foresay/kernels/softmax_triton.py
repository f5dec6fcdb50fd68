"""Logits to the gradient of their softmax loss, in place, on a GPU: one program a row, which reads it twice.

    loss = log sum_v exp z_v - z_target,    z_v <- exp(z_v - log sum exp) - [v = target]

Every lane keeps a maximum and a sum of its own over the pieces of a row; they are joined once, at the end. So few rows
are under way at a time that their second reading finds them in the cache. Sums are float32 whatever z is kept in.

z (N, V), targets (N) -> losses (N), float32.
"""

from __future__ import annotations

from typing import Any

import torch
import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]
from torch import Tensor

BLOCK, WARPS = 16384, 32


@triton.jit
def _kernel(z, targets, losses, width, stride, block: tl.constexpr, pieces: tl.constexpr) -> None:
    row = tl.program_id(0).to(tl.int64)
    at, target = z + row * stride, tl.load(targets + row)
    columns = tl.arange(0, block)
    highs, sums = tl.full((block,), -3.0e38, tl.float32), tl.zeros((block,), tl.float32)
    for piece in tl.static_range(pieces):
        column = piece * block + columns
        x = tl.load(at + column, mask=column < width, other=-float("inf"), eviction_policy="evict_last")
        x = x.to(tl.float32)  # it will be wanted again
        higher = tl.maximum(highs, x)
        sums = sums * tl.exp(highs - higher) + tl.exp(x - higher)
        highs = higher
    best = tl.max(highs, 0)
    whole = best + tl.log(tl.sum(sums * tl.exp(highs - best), 0))
    tl.store(losses + row, whole - tl.load(at + target).to(tl.float32))
    for piece in tl.static_range(pieces):
        column = piece * block + columns
        x = tl.load(at + column, mask=column < width, other=-float("inf"), eviction_policy="evict_first")
        p = tl.exp(x.to(tl.float32) - whole) - tl.where(column == target, 1.0, 0.0)
        tl.store(at + column, p, mask=column < width)


def softmax_gradient(z: Tensor, targets: Tensor) -> Tensor:
    """The losses; z becomes the gradient of their sum."""
    losses = torch.empty(len(z), dtype=torch.float32, device=z.device)
    launch: Any = _kernel
    if len(z):
        block = min(BLOCK, triton.next_power_of_2(z.shape[1]))
        pieces, warps = triton.cdiv(z.shape[1], block), max(min(WARPS, block // 512), 1)
        launch[(len(z),)](z, targets, losses, z.shape[1], z.stride(0), block, pieces, num_warps=warps)
    return losses
