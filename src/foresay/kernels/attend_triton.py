"""One step that looks back, on a GPU: a program for each row and head, which reads its slots once.

As `attend` (attend.py), but how many slots are taken is read on the device, so that the step can be a CUDA graph. The
newest slot is not yet in the cache: its key and value come beside the query, and are written to their slot here.

q (B, N, d), new k (B, G, d), new v (B, G, e), caches k (B, C, G, d), v (B, C, G, e) -> y (B, N, e)
"""

from __future__ import annotations

from typing import Any

import torch
import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]
from torch import Tensor

SLOTS = 64  # read at a time


@triton.jit
def _kernel(
    q, new_k, new_v, keys, values, rows, at, begun, position, used,
    y, scale, window, q_row, k_row, v_row, key_row, key_slot, value_row,
    value_slot, slots, heads: tl.constexpr, share: tl.constexpr, wide: tl.constexpr, deep: tl.constexpr,
    some: tl.constexpr, wide_block: tl.constexpr, deep_block: tl.constexpr,
) -> None:  # fmt: skip
    b, n = tl.program_id(0).to(tl.int64), tl.program_id(1)
    group, end = n // share, tl.load(used)
    i, j = tl.arange(0, wide_block), tl.arange(0, deep_block)
    query = tl.load(q + b * q_row + n * wide + i, mask=i < wide, other=0.0).to(tl.float32) * scale
    key = tl.load(new_k + b * k_row + group * wide + i, mask=i < wide, other=0.0)
    value = tl.load(new_v + b * v_row + group * deep + j, mask=j < deep, other=0.0)
    if n % share == 0:
        tl.store(keys + b * key_row + end * key_slot + group * wide + i, key, mask=i < wide)
        tl.store(values + b * value_row + end * value_slot + group * deep + j, value, mask=j < deep)
    best = tl.sum(query * key.to(tl.float32), 0)
    total, mean = 1.0, value.to(tl.float32)
    here = tl.load(position + b)
    first = tl.maximum(tl.load(begun + b), here - window + 1)
    for begin in range(0, end, some):
        c = begin + tl.arange(0, some)
        taken = c < end
        place = tl.load(at + b * slots + c, mask=taken, other=-1)
        seen = taken & (place >= first) & (place <= here)
        row = tl.load(rows + b * slots + c, mask=taken, other=0)
        from_k = keys + (row * key_row + c * key_slot + group * wide)[:, None] + i[None, :]
        k = tl.load(from_k, mask=seen[:, None] & (i < wide)[None, :], other=0.0).to(tl.float32)
        from_v = values + (row * value_row + c * value_slot + group * deep)[:, None] + j[None, :]
        v = tl.load(from_v, mask=seen[:, None] & (j < deep)[None, :], other=0.0).to(tl.float32)
        scores = tl.where(seen, tl.sum(k * query[None, :], 1), -float("inf"))
        higher = tl.maximum(best, tl.max(scores, 0))
        p, less = tl.exp(scores - higher), tl.exp(best - higher)
        mean = mean * less + tl.sum(p[:, None] * v, 0)
        total = total * less + tl.sum(p, 0)
        best = higher
    tl.store(y + (b * heads + n) * deep + j, mean / total, mask=j < deep)


def attend_and_keep(
    q: Tensor, k: Tensor, v: Tensor, held: dict[str, Tensor], state: dict[str, Any], position: Tensor, scale: float,
    window: int,
) -> Tensor:  # fmt: skip
    """The heads' means; the step's key and value are written to the slot that is next. Rows of q, k, v lie whole."""
    keys, values = held["k"], held["v"]
    heads, wide, groups, deep = q.shape[1], q.shape[2], k.shape[1], v.shape[2]
    y = torch.empty(len(q), heads, deep, dtype=q.dtype, device=q.device)
    launch: Any = _kernel
    launch[(len(q), heads)](
        q, k, v, keys, values, state["rows"], state["at"], state["begun"], position, state["used"], y, scale, window,
        q.stride(0), k.stride(0), v.stride(0), keys.stride(0), keys.stride(1), values.stride(0), values.stride(1),
        keys.shape[1], heads, heads // groups, wide, deep, SLOTS, triton.next_power_of_2(wide),
        triton.next_power_of_2(deep), num_warps=4,
    )  # fmt: skip
    return y
