"""Logits to the gradient of their softmax loss, in place, on a GPU: one program a row, which reads it twice.

    loss = log sum_v exp z_v - z_target,    z_v <- exp(z_v - log sum exp) - [v = target]

Sums are float32 whatever z is kept in. z (N, V), targets (N) -> losses (N), float32.
"""

from __future__ import annotations

from typing import Any

import torch
import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]
from torch import Tensor

BLOCK = 8192


@triton.jit
def _kernel(z, targets, losses, width, stride, block: tl.constexpr) -> None:
    row = tl.program_id(0).to(tl.int64)
    at, target = z + row * stride, tl.load(targets + row)
    columns = tl.arange(0, block)
    best, total = -3.0e38, 0.0
    for begin in range(0, width, block):
        x = tl.load(
            at + begin + columns, mask=begin + columns < width, other=-float("inf"), eviction_policy="evict_last"
        ).to(tl.float32)  # it will be wanted again
        higher = tl.maximum(best, tl.max(x, 0))
        total = total * tl.exp(best - higher) + tl.sum(tl.exp(x - higher), 0)
        best = higher
    whole = best + tl.log(total)
    tl.store(losses + row, whole - tl.load(at + target).to(tl.float32))
    for begin in range(0, width, block):
        inside = begin + columns < width
        x = tl.load(at + begin + columns, mask=inside, other=-float("inf"), eviction_policy="evict_first")
        x = x.to(tl.float32)
        p = tl.exp(x - whole) - tl.where(begin + columns == target, 1.0, 0.0)
        tl.store(at + begin + columns, p, mask=inside)


def softmax_gradient(z: Tensor, targets: Tensor) -> Tensor:
    """The losses; z becomes the gradient of their sum."""
    losses = torch.empty(len(z), dtype=torch.float32, device=z.device)
    launch: Any = _kernel
    if len(z):
        launch[(len(z),)](z, targets, losses, z.shape[1], z.stride(0), BLOCK, num_warps=16)
    return losses
