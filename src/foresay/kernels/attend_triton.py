"""One step that looks back, on a GPU: a program for each row, head and some slots; the last of a head joins the parts.

As `attend` (attend.py), but how many slots are taken is read on the device, so that the step can be a CUDA graph. The
newest slot is not yet in the cache: its key and value come beside the query, and are written to their slot here.

    a part:  m = max_c s_c,  l = sum_c exp(s_c - m),  a = sum_c exp(s_c - m) v_c
    joined:  y = sum_p exp(m_p - M) a_p / sum_p exp(m_p - M) l_p,   M = max_p m_p

Each program counts itself when its part is written; who finds all others counted is the last.

q (B, N, d), new k (B, G, d), new v (B, G, e), caches k (B, C, G, d), v (B, C, G, e) -> y (B, N, e)
"""

from __future__ import annotations

from typing import Any

import torch
import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]
from torch import Tensor

from foresay.kernels.early_triton import after_the_one_before, early_on

SLOTS, WARPS = 128, 4  # of a part
NONE: tl.constexpr = tl.constexpr(-3.0e38)  # the best score of a part without slots


@triton.jit
def _look(
    q, new_k, new_v, keys, values, rows, at, begun, position, used, parts, arrived, y, scale, window, q_row, k_row,
    v_row, key_row, key_slot, value_row, value_slot, slots, heads: tl.constexpr, share: tl.constexpr,
    wide: tl.constexpr, deep: tl.constexpr, some: tl.constexpr, wide_block: tl.constexpr, deep_block: tl.constexpr,
    most: tl.constexpr, early: tl.constexpr,
) -> None:  # fmt: skip
    b, n, part = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.program_id(2)
    group, end = n // share, tl.load(used)
    number = tl.maximum((end + some - 1) // some, 1)  # of parts that have slots
    if part >= number:  # the first part waits for the kernel before, so that the one after finds it ended
        return
    i, j = tl.arange(0, wide_block), tl.arange(0, deep_block)
    c = part * some + tl.arange(0, some)
    taken = c < end
    place = tl.load(at + b * slots + c, mask=taken, other=-1)
    row = tl.load(rows + b * slots + c, mask=taken, other=0)
    here = tl.load(position + b)
    first = tl.maximum(tl.load(begun + b), here - window + 1)
    seen = taken & (place >= first) & (place <= here)
    from_k = keys + (row * key_row + c * key_slot + group * wide)[:, None] + i[None, :]
    k = tl.load(from_k, mask=seen[:, None] & (i < wide)[None, :], other=0.0).to(tl.float32)
    from_v = values + (row * value_row + c * value_slot + group * deep)[:, None] + j[None, :]
    v = tl.load(from_v, mask=seen[:, None] & (j < deep)[None, :], other=0.0).to(tl.float32)
    after_the_one_before(early)  # all that was read is of steps before; the query, and the newest slot, are not
    query = tl.load(q + b * q_row + n * wide + i, mask=i < wide, other=0.0).to(tl.float32) * scale
    scores = tl.where(seen, tl.sum(k * query[None, :], 1), -float("inf"))
    best = tl.maximum(tl.max(scores, 0), NONE)
    p = tl.exp(scores - best)
    total, mean = tl.sum(p, 0), tl.sum(p[:, None] * v, 0)
    if part == 0:  # the newest slot belongs to the first part
        key = tl.load(new_k + b * k_row + group * wide + i, mask=i < wide, other=0.0)
        value = tl.load(new_v + b * v_row + group * deep + j, mask=j < deep, other=0.0)
        if n % share == 0:
            tl.store(keys + b * key_row + end * key_slot + group * wide + i, key, mask=i < wide)
            tl.store(values + b * value_row + end * value_slot + group * deep + j, value, mask=j < deep)
        score = tl.sum(query * key.to(tl.float32), 0)
        higher = tl.maximum(best, score)
        less, own = tl.exp(best - higher), tl.exp(score - higher)
        total, mean = total * less + own, mean * less + own * value.to(tl.float32)
        best = higher
    one = b * heads + n
    if number == 1:
        tl.store(y + one * deep + j, mean / total, mask=j < deep)
        return
    to = parts + (one * tl.num_programs(2) + part) * (deep + 2)
    tl.store(to + j, mean, mask=j < deep)
    tl.store(to + deep, best)
    tl.store(to + deep + 1, total)
    tl.debug_barrier()  # all of the program has written before it is counted
    if tl.atomic_add(arrived + one, 1) == number - 1:
        _join(parts + one * tl.num_programs(2) * (deep + 2), y + one * deep, number, deep, most, deep_block)


@triton.jit
def _join(parts, y, number, deep: tl.constexpr, most: tl.constexpr, deep_block: tl.constexpr) -> None:
    part, j = tl.arange(0, most), tl.arange(0, deep_block)
    real = part < number
    at = parts + part * (deep + 2)  # others wrote it: not from the nearest cache
    best = tl.load(at + deep, mask=real, other=NONE, cache_modifier=".cg")
    filled = real & (best > NONE)
    total = tl.load(at + deep + 1, mask=filled, other=0.0, cache_modifier=".cg")
    weight = tl.where(filled, tl.exp(best - tl.max(best, 0)), 0.0)
    within = filled[:, None] & (j < deep)[None, :]
    means = tl.load(at[:, None] + j[None, :], mask=within, other=0.0, cache_modifier=".cg")
    mean = tl.sum(weight[:, None] * means, 0) / tl.sum(weight * total, 0)
    tl.store(y + j, mean, mask=j < deep)


def attend_and_keep(
    q: Tensor, k: Tensor, v: Tensor, held: dict[str, Tensor], state: dict[str, Any], position: Tensor, scale: float,
    window: int, arrived: Tensor,
) -> Tensor:  # fmt: skip
    """The heads' means; the step's key and value are written to the slot that is next. Rows of q, k, v lie whole.

    `arrived` (B, N) of int32 is zero before.
    """
    keys, values = held["k"], held["v"]
    heads, wide, groups, deep = q.shape[1], q.shape[2], k.shape[1], v.shape[2]
    number = triton.cdiv(keys.shape[1], SLOTS)
    parts = torch.empty(len(q), heads, number, deep + 2, dtype=torch.float32, device=q.device)
    y = torch.empty(len(q), heads, deep, dtype=q.dtype, device=q.device)
    launch: Any = _look
    launch[(len(q), heads, number)](
        q, k, v, keys, values, state["rows"], state["at"], state["begun"], position, state["used"], parts, arrived, y,
        scale, window, q.stride(0), k.stride(0), v.stride(0), keys.stride(0), keys.stride(1), values.stride(0),
        values.stride(1), keys.shape[1], heads, heads // groups, wide, deep, SLOTS, triton.next_power_of_2(wide),
        triton.next_power_of_2(deep), triton.next_power_of_2(number), num_warps=WARPS, **early_on(q.device),
    )  # fmt: skip
    return y
