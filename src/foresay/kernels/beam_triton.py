"""A step of beam search on a GPU, after the model's: four kernels in place of some hundred of torch's.

    top:     of every live candidate its K + 1 likeliest symbols, pieces of a row first, then the row
    choose:  of all extensions those that end and those that go on, as decode/beams.py defines it
    close:   the best finished scores, and prompts whose search is over

For one group without required symbols: M = K live candidates of each of B prompts. Sums are float64, as in the plain
twin, and of equals the lowest place comes first.

log_probs (B M, V) of float32, totals (B, M) of float64
"""

from __future__ import annotations

from typing import Any

import torch
import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]
from torch import Tensor

from foresay.kernels.early_triton import after_the_one_before, early_on

PIECE = 1024
MOST = 16  # candidates of a prompt: a kernel goes through them one by one


@triton.jit
def _top_of_piece(
    logs, never, values, places, width, pieces, nevers, stop, number: tl.constexpr, piece: tl.constexpr,
    early: tl.constexpr,
) -> None:  # fmt: skip
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    i = tl.arange(0, piece)
    v = part * piece + i
    after_the_one_before(early)
    x = tl.load(logs + row * width + v, mask=(v < width) & (v != stop), other=-float("inf"))
    for n in range(nevers):
        x = tl.where(v == tl.load(never + n), -float("inf"), x)
    to = (row * pieces + part) * number
    for k in range(number):
        high, at = tl.max(x, 0, return_indices=True, return_indices_tie_break_left=True)
        tl.store(values + to + k, high)
        tl.store(places + to + k, tl.minimum(part * piece + at, width - 1))  # of nothing possible, any symbol
        x = tl.where(i == at, -float("inf"), x)


@triton.jit
def _top_of_row(
    values, places, best, ids, pieces, number: tl.constexpr, block: tl.constexpr, early: tl.constexpr
) -> None:
    row, i = tl.program_id(0).to(tl.int64), tl.arange(0, block)
    after_the_one_before(early)
    x = tl.load(values + row * pieces * number + i, mask=i < pieces * number, other=-float("inf"))
    for k in range(number):
        high, at = tl.max(x, 0, return_indices=True, return_indices_tie_break_left=True)
        tl.store(best + row * number + k, high)
        tl.store(ids + row * number + k, tl.load(places + row * pieces * number + tl.minimum(at, pieces * number - 1)))
        x = tl.where(i == at, -float("inf"), x)


@triton.jit
def _choose(
    logs, best, ids, totals, sure, written, norms, told_parents, told_ids, told_logs, told_scores, told_stops,
    next_ids, next_rows, width, stop, least, margin, live: tl.constexpr, number: tl.constexpr, block: tl.constexpr,
    early: tl.constexpr,
) -> None:  # fmt: skip
    """Places 0 .. M - 1 are the candidates that end, the others (candidate, rank of its symbol)."""
    b, t = tl.program_id(0).to(tl.int64), tl.arange(0, block)
    after_the_one_before(early)
    step = tl.load(written)
    ends, grows = t < live, (t >= live) & (t < live + live * number)
    pool = tl.where(grows, t - live, 0)
    slot = tl.where(ends, t, pool // number)
    before = tl.load(totals + b * live + slot, mask=ends | grows, other=-float("inf"))
    last = tl.load(logs + (b * live + slot) * width + stop, mask=ends, other=-float("inf"))
    last = tl.where(step < least, -float("inf"), last)
    grown = tl.load(best + b * live * number + pool, mask=grows, other=-float("inf"))
    value = before + tl.where(ends, last, grown).to(tl.float64)
    x, ended, clear, edge = value, value != value, tl.load(sure + b) != 0, 0.0
    for k in tl.static_range(number):
        high, at = tl.max(x, 0, return_indices=True, return_indices_tie_break_left=True)
        if k < number - 1:
            ended = ended | (t == at)
        else:
            clear = clear & ((high == -float("inf")) | (edge - high > margin))
        edge = high
        x = tl.where(t == at, -float("inf"), x)
    x = tl.where(grows, value, -float("inf"))
    to = (step * tl.num_programs(0) + b) * live
    for k in tl.static_range(number):
        high, at = tl.max(x, 0, return_indices=True, return_indices_tie_break_left=True)
        if k < number - 1:
            from_pool = tl.minimum(tl.maximum(at - live, 0), live * number - 1)
            parent, id = from_pool // number, tl.load(ids + b * live * number + from_pool).to(tl.int64)
            tl.store(told_parents + to + k, parent.to(tl.int64))
            tl.store(told_ids + to + k, id)
            tl.store(told_logs + to + k, tl.load(best + b * live * number + from_pool).to(tl.float64))
            tl.store(next_ids + b * live + k, id)
            tl.store(next_rows + b * live + k, b * live + parent)
            tl.store(totals + b * live + k, high)
        else:
            clear = clear & ((high == -float("inf")) | (edge - high > margin))
        edge = high
        x = tl.where(t == at, -float("inf"), x)
    scores = tl.where(ended, value, -float("inf")) / tl.load(norms + step + 1)
    tl.store(told_scores + to + t, scores, mask=ends)
    tl.store(told_stops + to + t, last.to(tl.float64), mask=ends)
    tl.store(sure + b, clear)


@triton.jit
def _close(
    totals, top, sure, written, norms, told_scores, length, margin, live: tl.constexpr, wanted: tl.constexpr,
    until: tl.constexpr, live_block: tl.constexpr, top_block: tl.constexpr, early: tl.constexpr,
) -> None:  # fmt: skip
    b, m, n = tl.program_id(0).to(tl.int64), tl.arange(0, live_block), tl.arange(0, top_block)
    after_the_one_before(early)
    step = tl.load(written) - 1
    x = tl.load(top + b * wanted + n, mask=n < wanted, other=-float("inf"))
    new = tl.load(told_scores + (step * tl.num_programs(0) + b) * live + m, mask=m < live, other=-float("inf"))
    worst, after = x, x
    for k in tl.static_range(wanted):
        old, at = tl.max(x, 0, return_indices=True, return_indices_tie_break_left=True)
        young, place = tl.max(new, 0, return_indices=True, return_indices_tie_break_left=True)
        worst = tl.maximum(old, young)
        after = tl.where(n == k, worst, after)
        x = tl.where(n == tl.where(old >= young, at, -1), -float("inf"), x)
        new = tl.where(m == tl.where(old >= young, -1, place), -float("inf"), new)
    tl.store(top + b * wanted + n, after, mask=n < wanted)
    over = worst > -float("inf")
    sums = tl.load(totals + b * live + m, mask=m < live, other=-float("inf"))
    if until == 2:
        possible = tl.max(sums, 0) / tl.load(norms + length)
        gap = tl.where(possible == -float("inf"), float("inf"), tl.abs(worst - possible))
        tl.store(sure + b, (tl.load(sure + b) != 0) & ((over == 0) | (gap > margin)))
        over = over & (worst >= possible)
    if until > 0:
        tl.store(totals + b * live + m, tl.where(over, -float("inf"), sums), mask=m < live)


UNTIL = {"length": 0, "number": 1, "sure": 2}


def choose(
    logs: Tensor, totals: Tensor, sure: Tensor, written: Tensor, norms: Tensor, told: list[Tensor], never: Tensor,
    stop: int, least: int, margin: float, next_ids: Tensor, next_rows: Tensor,
) -> None:  # fmt: skip
    """One step: totals, `sure` and what is told (parents, ids, logs, scores, stops of every step) change; the symbols
    and rows to go on with are written, each (B M). norms (L + 2): what a sum is divided by, by length."""
    (prompts, live), width, early = totals.shape, logs.shape[1], early_on(logs.device)
    number, pieces = live + 1, triton.cdiv(logs.shape[1], PIECE)
    found = logs.new_empty(len(logs), pieces, number), logs.new_empty(len(logs), pieces, number, dtype=torch.int32)
    best, ids = logs.new_empty(len(logs), number), logs.new_empty(len(logs), number, dtype=torch.int32)
    first: Any = _top_of_piece
    second: Any = _top_of_row
    third: Any = _choose
    first[(len(logs), pieces)](
        logs, never, *found, width, pieces, len(never), stop, number, PIECE, num_warps=4, **early
    )  # fmt: skip
    block = triton.next_power_of_2(pieces * number)
    second[(len(logs),)](*found, best, ids, pieces, number, block, num_warps=4 if block > 256 else 1, **early)
    third[(prompts,)](
        logs, best, ids, totals, sure, written, norms, *told, next_ids, next_rows, width, stop, least, margin, live,
        number, triton.next_power_of_2(live + live * number), num_warps=1, **early,
    )  # fmt: skip


def close(
    totals: Tensor, top: Tensor, sure: Tensor, written: Tensor, norms: Tensor, scores: Tensor, length: int, until: str,
    margin: float,
) -> None:  # fmt: skip
    """After a step that was written: prompts that are over have -inf as totals."""
    live, wanted = totals.shape[1], top.shape[1]
    launch: Any = _close
    launch[(len(totals),)](
        totals, top, sure, written, norms, scores, length, margin, live, wanted, UNTIL[until],
        triton.next_power_of_2(max(live, 2)), triton.next_power_of_2(max(wanted, 2)), num_warps=1,
        **early_on(totals.device),
    )  # fmt: skip
