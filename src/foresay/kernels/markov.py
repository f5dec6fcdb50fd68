"""Hidden Markov chains: likelihood, expected counts, filtered and smoothed states, in compiled loops.

    P(o) = sum_s pi[s_1] b_{s_1}(o_1) prod_{t>1} A[s_{t-1}, s_t] b_{s_t}(o_t)

A step o_t is a row of a table (M, K) of b_j(o): of symbols M is the vocabulary, of numbers every step has a row of its
own. All is in float64 and scaled step by step, so that no text is too long. Rows are divided into GROUPS, whatever the
number of threads, and their counts added in that order: the same numbers on any machine of a kind.

The plain twin (FORESAY_PLAIN=1, and on a GPU) is the recursion in torch over all rows at once; its expected counts are
the gradient of log P by log b, log A and log pi, which is what they are (Salakhutdinov et al. 2003).

table (M, K), ids (N,) of rows that lie one behind the other, edges (rows + 1,), a (K, K), first (K,).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from foresay.kernels.switch import plain
from foresay.kernels.threads import in_threads

GROUPS = 4  # of rows, each with tables of its own
TOGETHER = 64  # rows of the plain twin


@dataclass(frozen=True)
class Counts:
    """What is expected of the states, given all rows: how often each begins (K), moves (K, K), emits (M, K)."""

    log_prob: float
    began: np.ndarray
    moved: np.ndarray
    emitted: np.ndarray


def expected(
    table: np.ndarray, ids: np.ndarray, edges: np.ndarray, a: np.ndarray, first: np.ndarray, *, own: bool = False
) -> Counts:
    """log P of all rows, and the counts that Baum and Welch expect; `own`: each step has a row of the table alone."""
    if plain():
        return _expected_plainly(table, ids, edges, a, first)
    from foresay.kernels import markov_loops as loops  # numba takes a second to import

    states = len(first)
    wanted = np.linspace(0, edges[-1], GROUPS + 1)
    groups = np.searchsorted(edges, wanted).astype(np.int64)
    groups[0], groups[-1] = 0, len(edges) - 1
    nats, began = np.zeros(GROUPS), np.zeros((GROUPS, states))
    moved, emitted = np.zeros((GROUPS, states, states)), np.zeros((1 if own else GROUPS, *table.shape))
    given = (table, ids, edges, groups, a, np.ascontiguousarray(a.T), first, nats, emitted, moved, began)
    in_threads(loops.expect, given, GROUPS, torch.get_num_threads(), few=1)
    return Counts(-float(nats.sum()), began.sum(0), moved.sum(0) * a, emitted.sum(0))


def follow(
    table: Tensor, ids: Tensor, sizes: Tensor, a: Tensor, first: Tensor, known: Tensor, stop: int = -1
) -> tuple[Tensor, Tensor]:
    """log P(o_t | o_1 .. o_{t-1}) (B, T), 0 behind a row's size, and P(s_{T+1} | o_1 .. o_T) (B, K), from `known`.

    Behind the symbol `stop` a row begins anew, from `first`.
    """
    if plain() or table.device.type != "cpu":
        return _follow_plainly(table, ids, sizes, a, first, known, stop)
    from foresay.kernels import markov_loops as loops

    after, found = known.clone(), torch.zeros(ids.shape, dtype=torch.float64)
    arrays = [one.contiguous().numpy() for one in (table, ids, sizes, a, first)]
    in_threads(loops.follow, (*arrays, stop, after.numpy(), found.numpy()), len(ids), torch.get_num_threads(), few=8)
    return found, after


def both(table: np.ndarray, ids: np.ndarray, a: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P(s_t | o_1 .. o_t) and P(s_t | o_1 .. o_T) of a row, each (T, K)."""
    if plain():
        return _both_plainly(table, ids, a, first)
    from foresay.kernels import markov_loops as loops

    filtered, smoothed = np.empty((2, len(ids), len(first)))
    loops.both(table, ids, a, np.ascontiguousarray(a.T), first, filtered, smoothed)
    return filtered, smoothed


def _follow_plainly(
    table: Tensor, ids: Tensor, sizes: Tensor, a: Tensor, first: Tensor, known: Tensor, stop: int
) -> tuple[Tensor, Tensor]:
    found = []
    for t in range(ids.shape[1]):
        here = ids[:, t]
        taken = known * table[here]
        share = taken.sum(1)
        real, can = t < sizes, share > 0
        filtered = torch.where(can[:, None], taken / share.where(can, 1.0)[:, None], known)
        onward = torch.where((here == stop)[:, None], first, filtered @ a)
        known = torch.where(real[:, None], onward, known)
        found.append(torch.where(real, share.log(), 0.0))
    return torch.stack(found, 1) if found else torch.zeros(ids.shape, dtype=table.dtype, device=ids.device), known


def _expected_plainly(
    table: np.ndarray, ids: np.ndarray, edges: np.ndarray, a: np.ndarray, first: np.ndarray
) -> Counts:
    """By the gradient, some rows at a time, the longest first."""
    logs = [torch.from_numpy(one).log().requires_grad_() for one in (first, a, table)]
    grads, total = [torch.zeros_like(one) for one in logs], 0.0
    sizes = np.diff(edges)
    order = np.argsort(-sizes, kind="stable")
    for at in range(0, len(order), TOGETHER):
        rows = order[at : at + TOGETHER]
        padded = torch.zeros(len(rows), int(sizes[rows[0]]), dtype=torch.long)
        for place, row in enumerate(rows):
            padded[place, : sizes[row]] = torch.from_numpy(ids[edges[row] : edges[row + 1]].astype(np.int64))
        with torch.enable_grad():
            start, moves, shares = (one.exp() for one in logs)
            known = start.expand(len(rows), -1)
            found, _ = _follow_plainly(shares, padded, torch.from_numpy(sizes[rows]), moves, start, known, -1)
            for grad, own in zip(grads, torch.autograd.grad(found.sum(), logs), strict=True):
                grad += own.nan_to_num()  # what has probability 0 has no logarithm, and is never expected
        total += float(found.detach().sum())
    began, moved, emitted = (one.numpy() for one in grads)
    return Counts(total, began, moved, emitted)


def _both_plainly(
    table: np.ndarray, ids: np.ndarray, a: np.ndarray, first: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    rows = table[ids]
    filtered, later, known = np.empty(rows.shape), np.ones(rows.shape), first
    for t, row in enumerate(rows):
        taken = known * row
        filtered[t] = taken / taken.sum() if taken.sum() > 0 else known
        known = filtered[t] @ a
    for t in range(len(rows) - 2, -1, -1):
        seen = rows[t + 1] if (rows[t + 1] * (filtered[t] @ a)).sum() > 0 else 1.0
        onward = a @ (seen * later[t + 1])
        later[t] = onward / onward.sum()
    smoothed = filtered * later
    return filtered, smoothed / smoothed.sum(1, keepdims=True)
