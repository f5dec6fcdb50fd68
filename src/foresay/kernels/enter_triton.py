"""How a step of one symbol enters a Transformer on a GPU: one kernel in place of a dozen of torch's.

    x + P[position - begun], and LayerNorm of it for the first block
    the slot that is next gets its position and its row; position and used go on by one; counters are zero

x (B, H), table P (L, H) or none -> stream (B, H), normed (B, H), position + 1 (B,), used + 1 (B,)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]
from torch import Tensor, nn

from foresay.kernels.early_triton import after_the_one_before, early_on


class Entered(NamedTuple):
    """What the blocks go on with."""

    stream: Tensor
    normed: Tensor
    position: Tensor
    used: Tensor
    arrived: Tensor  # (layers, B, N) zeros


@triton.jit
def _enter(
    x, table, gain, shift, position, begun, used, at, rows, stream, normed, position_after, used_after, arrived, width,
    slots, eps, counters, places, placed: tl.constexpr, whole: tl.constexpr, some: tl.constexpr, early: tl.constexpr,
) -> None:  # fmt: skip
    b, k = tl.program_id(0).to(tl.int64), tl.arange(0, whole)
    within = k < width
    g = tl.load(gain + k, mask=within, other=0.0).to(tl.float32)
    s = tl.load(shift + k, mask=within, other=0.0).to(tl.float32)
    after_the_one_before(early)
    here, slot = tl.load(position + b), tl.load(used + b)
    one = tl.load(x + b * width + k, mask=within, other=0.0).to(tl.float32)
    if placed:
        place = tl.minimum(here - tl.load(begun + b), places - 1)  # nothing beyond the table is read
        one += tl.load(table + place * width + k, mask=within, other=0.0).to(tl.float32)
    tl.store(stream + b * width + k, one, mask=within)
    off = tl.where(within, one - tl.sum(one, 0) / width, 0.0)
    one = off * tl.rsqrt(tl.sum(off * off, 0) / width + eps)
    tl.store(normed + b * width + k, one * g + s, mask=within)
    tl.store(at + b * slots + slot, here)
    tl.store(rows + b * slots + slot, b)
    tl.store(position_after + b, here + 1)
    tl.store(used_after + b, slot + 1)
    c = tl.arange(0, some)
    tl.store(arrived + b * counters + c, tl.zeros((some,), tl.int32), mask=c < counters)


def enter(
    x: Tensor, table: Tensor | None, norm: nn.LayerNorm, state: dict[str, Any], layers: int, heads: int
) -> Entered:
    """The state's `at` and `rows` change; there is a slot left."""
    whole, counters = triton.next_power_of_2(x.shape[1]), layers * heads
    position, used, at = state["position"], state["used"], state["at"]
    made = Entered(
        torch.empty_like(x), torch.empty_like(x), torch.empty_like(position), torch.empty_like(used),
        torch.empty(layers, len(x), heads, dtype=torch.int32, device=x.device),
    )  # fmt: skip
    launch: Any = _enter
    launch[(len(x),)](
        x, x if table is None else table, norm.weight, norm.bias, position, state["begun"], used, at, state["rows"],
        *made, x.shape[1], at.shape[1], norm.eps, counters, 0 if table is None else len(table),
        table is not None, whole, triton.next_power_of_2(counters), num_warps=4, **early_on(x.device),
    )  # fmt: skip
    return made
