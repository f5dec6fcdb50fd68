"""How a step of one symbol enters a Transformer on a GPU: one kernel in place of a dozen of torch's.

    x + P[position - begun], LayerNorm of it for the first block, and the mean and squares of its blocks of columns
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
from foresay.kernels.thin_triton import OUTS, seen_of


class Entered(NamedTuple):
    """What the blocks go on with."""

    stream: Tensor
    seen: Tensor  # (H / 32, B, 2), as of `Stream` in thin_triton.py
    normed: Tensor
    position: Tensor
    used: Tensor
    counters: Tensor  # zeros


@triton.jit
def _enter(
    x, table, gain, shift, position, begun, used, at, rows, stream, seen, normed, position_after, used_after, counters,
    width, slots, eps, each, places, placed: tl.constexpr, whole: tl.constexpr, outs: tl.constexpr,
    some: tl.constexpr, early: tl.constexpr,
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
    kept = one.to(stream.dtype.element_ty)
    tl.store(stream + b * width + k, kept, mask=within)
    one = kept.to(tl.float32)
    blocks = tl.reshape(one, (whole // outs, outs))
    mean = tl.sum(blocks, 1) / outs
    apart = blocks - mean[:, None]
    n = tl.arange(0, whole // outs)
    to = seen + (n * tl.num_programs(0) + b) * 2
    tl.store(to, mean, mask=n < width // outs)
    tl.store(to + 1, tl.sum(apart * apart, 1), mask=n < width // outs)
    off = tl.where(within, one - tl.sum(one, 0) / width, 0.0)
    one = off * tl.rsqrt(tl.sum(off * off, 0) / width + eps)
    tl.store(normed + b * width + k, one * g + s, mask=within)
    tl.store(at + b * slots + slot, here)
    tl.store(rows + b * slots + slot, b)
    tl.store(position_after + b, here + 1)
    tl.store(used_after + b, slot + 1)
    c = tl.arange(0, some)
    tl.store(counters + b * each + c, tl.zeros((some,), tl.int32), mask=c < each)


def enter(x: Tensor, table: Tensor | None, norm: nn.LayerNorm, state: dict[str, Any], counters: int) -> Entered:
    """The state's `at` and `rows` change; there is a slot left."""
    whole, each = triton.next_power_of_2(max(x.shape[1], OUTS)), triton.cdiv(counters, len(x))
    position, used, at = state["position"], state["used"], state["at"]
    made = Entered(
        torch.empty_like(x), seen_of(x), torch.empty_like(x), torch.empty_like(position), torch.empty_like(used),
        torch.empty(each * len(x), dtype=torch.int32, device=x.device),
    )  # fmt: skip
    launch: Any = _enter
    launch[(len(x),)](
        x, x if table is None else table, norm.weight, norm.bias, position, state["begun"], used, at, state["rows"],
        *made, x.shape[1], at.shape[1], norm.eps, each, 0 if table is None else len(table), table is not None, whole,
        OUTS, triton.next_power_of_2(each), num_warps=4, **early_on(x.device),
    )  # fmt: skip
    return made
