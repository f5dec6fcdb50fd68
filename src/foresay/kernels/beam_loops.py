"""A step of beam search on a CPU, after the model's: two compiled loops in place of some fifty operations of torch's.

    choose:  of every live candidate its K + 1 likeliest symbols; of all extensions those that end and those that go on
    close:   the best finished scores, and prompts whose search is over

What they do is what decode/beams.py defines, for one group without required symbols: M = K live candidates of each of B
prompts. Sums are float64, and of equals the lowest place comes first. beam_triton.py is the same for a GPU.

log_probs (B M, V) of float32, totals (B, M) of float64
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from torch import Tensor

MOST = 64  # candidates of a prompt: a symbol that may be among the best is put into its place one by one
UNTIL = {"length": 0, "number": 1, "sure": 2}


@njit(nogil=True, cache=True)
def _top(row: Any, never: Any, stop: int, values: Any, ids: Any) -> None:
    """The likeliest symbols of a row that may go on, falling."""
    number = len(values)
    values[:], ids[:] = -np.inf, 0
    low = values[number - 1]
    for v in range(len(row)):
        x = row[v]
        if not x > low or v == stop:
            continue
        banned = False
        for one in never:
            banned |= one == v
        if banned:
            continue
        k = number - 1
        while k > 0 and values[k - 1] < x:
            values[k], ids[k] = values[k - 1], ids[k - 1]
            k -= 1
        values[k], ids[k] = x, v
        low = values[number - 1]


@njit(nogil=True, cache=True)
def _first(values: Any) -> int:
    """The place of the largest, the lowest among equals."""
    best = 0
    for i in range(1, len(values)):
        if values[i] > values[best]:
            best = i
    return best


@njit(nogil=True, cache=True)
def _is_clear(falling: Any, margin: float) -> bool:
    """Whether the last that is taken, of one more than that, was clearly ahead."""
    last, after = falling[len(falling) - 2], falling[len(falling) - 1]
    return after == -np.inf or last - after > margin


@njit(nogil=True, cache=True)
def _choose(
    logs, totals, sure, step, norms, parents, ids, chosen_logs, scores, stops, never, stop, least, margin, next_ids,
    next_rows,
):  # fmt: skip
    prompts, live = totals.shape
    number = live + 1
    best, symbols = np.empty((live, number), np.float32), np.empty((live, number), np.int64)
    ends, grown, taken = np.empty(live), np.empty(live * number), np.empty(number)
    together = np.empty(live + live * number)
    for b in range(prompts):
        for m in range(live):
            row = logs[b * live + m]
            _top(row, never, stop, best[m], symbols[m])
            last = np.float32(-np.inf) if step < least else row[stop]
            stops[step, b, m], ends[m] = last, totals[b, m] + np.float64(last)
            for k in range(number):
                grown[m * number + k] = totals[b, m] + np.float64(best[m, k])
        together[:live], together[live:], scores[step, b] = ends, grown, -np.inf
        for k in range(number):
            at = _first(together)
            taken[k], together[at] = together[at], -np.inf
            if at < live and k < live:
                scores[step, b, at] = taken[k] / norms[step + 1]
        clear = _is_clear(taken, margin)
        for k in range(number):
            at = _first(grown)
            taken[k], grown[at] = grown[at], -np.inf
            if k < live:
                m, rank = at // number, at % number
                parents[step, b, k], ids[step, b, k] = m, symbols[m, rank]
                chosen_logs[step, b, k] = best[m, rank]
                next_ids[b * live + k], next_rows[b * live + k] = symbols[m, rank], b * live + m
        sure[b] &= clear and _is_clear(taken, margin)
        totals[b] = taken[:live]


@njit(nogil=True, cache=True)
def _close(totals, top, sure, scores, norms, length, until, margin):
    wanted = top.shape[1]
    for b in range(len(totals)):
        both = np.sort(np.concatenate((top[b], scores[b])))[::-1]
        top[b] = both[:wanted]
        worst = both[wanted - 1]
        over = worst > -np.inf and until > 0
        if until == 2:
            possible = totals[b].max() / norms[length]
            sure[b] &= not over or possible == -np.inf or abs(worst - possible) > margin
            over = over and worst >= possible
        if over:
            totals[b] = -np.inf


def choose(
    logs: Tensor, totals: Tensor, sure: Tensor, written: Tensor, norms: Tensor, told: list[Tensor], never: Tensor,
    stop: int, least: int, margin: float, next_ids: Tensor, next_rows: Tensor,
) -> None:  # fmt: skip
    """One step: totals, `sure` and what is told (parents, ids, logs, scores, stops of every step) change; the symbols
    and rows to go on with are written, each (B M). norms (L + 2): what a sum is divided by, by length."""
    parents, ids, chosen_logs, scores, stops = (one.numpy() for one in told)
    _choose(
        logs.contiguous().numpy(), totals.numpy(), sure.numpy(), int(written), norms.numpy(), parents, ids, chosen_logs,
        scores, stops, never.numpy(), stop, least, margin, next_ids.numpy(), next_rows.numpy(),
    )  # fmt: skip


def close(
    totals: Tensor, top: Tensor, sure: Tensor, written: Tensor, norms: Tensor, scores: Tensor, length: int, until: str,
    margin: float,
) -> None:  # fmt: skip
    """After a step that was written: prompts that are over have -inf as totals."""
    last = scores[int(written) - 1].numpy()
    _close(totals.numpy(), top.numpy(), sure.numpy(), last, norms.numpy(), length, UNTIL[until], margin)
