"""The loops of markov.py, compiled by numba when they are first called: Rabiner's scaled recursions (1989).

    a_t[j]  = p_t[j] b_j(o_t) / c_t,      c_t = sum_j p_t[j] b_j(o_t) = P(o_t | o_1 .. o_{t-1}),   p_{t+1} = a_t A
    r_t[i]  = sum_j A[i, j] x_{t+1}[j],   x_t[j] = b_j(o_t) r_t[j] / c_t,                          r_T = 1
    P(s_t | o_1 .. o_T) = a_t r_t,        P(s_t, s_{t+1} | o_1 .. o_T) = a_t[i] A[i, j] x_{t+1}[j]

A long row is gone through in pieces: p stands at the edge of each, and a_t of one piece alone is kept. Without numba's
compiler (NUMBA_DISABLE_JIT=1) they run as the plain Python they are.
"""

from __future__ import annotations

import numpy as np
from numba import njit

PIECE = 1024  # steps whose a_t, r_t and x_t are kept


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def into(vector: np.ndarray, matrix: np.ndarray, out: np.ndarray) -> None:
    """out[j] = sum_i vector[i] matrix[i, j], four rows at a time."""
    size, width = matrix.shape
    out[:] = 0.0
    four = size - size % 4
    for i in range(0, four, 4):
        v0, v1, v2, v3 = vector[i], vector[i + 1], vector[i + 2], vector[i + 3]
        r0, r1, r2, r3 = matrix[i], matrix[i + 1], matrix[i + 2], matrix[i + 3]
        for j in range(width):
            out[j] += v0 * r0[j] + v1 * r1[j] + v2 * r2[j] + v3 * r3[j]
    for i in range(four, size):
        weight, row = vector[i], matrix[i]
        for j in range(width):
            out[j] += weight * row[j]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def pair(before: np.ndarray, after: np.ndarray, out: np.ndarray) -> None:
    """out[i, j] += sum_t before[t, i] after[t, j], four steps at a time."""
    steps, size = before.shape
    four = steps - steps % 4
    for t in range(0, four, 4):
        x0, x1, x2, x3 = after[t], after[t + 1], after[t + 2], after[t + 3]
        for i in range(size):
            v0, v1, v2, v3 = before[t, i], before[t + 1, i], before[t + 2, i], before[t + 3, i]
            row = out[i]
            for j in range(size):
                row[j] += v0 * x0[j] + v1 * x1[j] + v2 * x2[j] + v3 * x3[j]
    for t in range(four, steps):
        for i in range(size):
            weight, row = before[t, i], out[i]
            for j in range(size):
                row[j] += weight * after[t, j]


@njit(cache=True, nogil=True)
def take_in(row: np.ndarray, known: np.ndarray, filtered: np.ndarray) -> float:
    """c of a step, and a_t in `filtered`; where no state allows it 0, and a_t is p_t: nothing is learnt of it."""
    total = 0.0
    for j in range(len(row)):
        filtered[j] = known[j] * row[j]
        total += filtered[j]
    if not total > 0.0:
        filtered[:] = known
        return 0.0
    for j in range(len(row)):
        filtered[j] /= total
    return total


@njit(cache=True, nogil=True)
def forwards(
    table: np.ndarray, ids: np.ndarray, a: np.ndarray, known: np.ndarray, filtered: np.ndarray, shares: np.ndarray
) -> None:
    """a_t (T, K) and c_t (T) of a piece; `known` is p of its first step, then that of the step behind it."""
    for t in range(len(ids)):
        shares[t] = take_in(table[ids[t]], known, filtered[t])
        into(filtered[t], a, known)


@njit(cache=True, nogil=True)
def backwards(
    table: np.ndarray, ids: np.ndarray, turned: np.ndarray, shares: np.ndarray, later: np.ndarray, rest: np.ndarray,
    onward: np.ndarray,
) -> None:  # fmt: skip
    """r_t and x_t (T, K) of a piece; `later` is r of its last step, then that of the step before it."""
    for t in range(len(ids) - 1, -1, -1):
        row = table[ids[t]]
        for j in range(len(later)):
            rest[t, j] = later[j]
            onward[t, j] = later[j] if shares[t] == 0.0 else row[j] * later[j] / shares[t]
        into(onward[t], turned, later)


@njit(cache=True, nogil=True)
def expect(
    table: np.ndarray, ids: np.ndarray, edges: np.ndarray, groups: np.ndarray, a: np.ndarray, turned: np.ndarray,
    first: np.ndarray, nats: np.ndarray, emitted: np.ndarray, moved: np.ndarray, began: np.ndarray, low: int, high: int,
) -> None:  # fmt: skip
    """Groups low..high of rows: log P, and how often each state is expected to emit, to move and to begin."""
    states, tables = len(first), len(emitted)
    filtered, rest, onward = np.empty((PIECE, states)), np.empty((PIECE, states)), np.empty((PIECE, states))
    shares, known, later = np.empty(PIECE), np.empty(states), np.empty(states)
    for group in range(low, high):
        own, moves = emitted[group % tables], moved[group]  # one table for all: then no two rows have a step in common
        for row in range(groups[group], groups[group + 1]):
            begin, end = edges[row], edges[row + 1]
            pieces = -(-(end - begin) // PIECE)
            borders = np.empty((pieces, states))
            known[:] = first
            for piece in range(pieces):
                part = ids[begin + piece * PIECE : min(begin + (piece + 1) * PIECE, end)]
                borders[piece] = known
                forwards(table, part, a, known, filtered, shares)
                for t in range(len(part)):
                    nats[group] -= np.log(shares[t])
            later[:] = 1.0
            for piece in range(pieces - 1, -1, -1):
                part = ids[begin + piece * PIECE : min(begin + (piece + 1) * PIECE, end)]
                size = len(part)
                if piece < pieces - 1:  # x of the step behind this piece stands first in what was kept of that one
                    pair_edge = onward[0].copy()
                    known[:] = borders[piece]
                    forwards(table, part, a, known, filtered, shares)
                    for i in range(states):
                        for j in range(states):
                            moves[i, j] += filtered[size - 1, i] * pair_edge[j]
                backwards(table, part, turned, shares, later, rest, onward)
                pair(filtered[: size - 1], onward[1:size], moves)
                for t in range(size):
                    for j in range(states):
                        own[part[t], j] += filtered[t, j] * rest[t, j]
            for j in range(states):
                began[group, j] += filtered[0, j] * rest[0, j]


@njit(cache=True, nogil=True)
def follow(
    table: np.ndarray, ids: np.ndarray, sizes: np.ndarray, a: np.ndarray, first: np.ndarray, stop: int,
    known: np.ndarray, nats: np.ndarray, low: int, high: int,
) -> None:  # fmt: skip
    """Rows low..high: log c_t (T), and p after the last of the row's `sizes` steps; behind `stop` a row begins anew."""
    filtered = np.empty(len(first))
    for row in range(low, high):
        for t in range(sizes[row]):
            share = take_in(table[ids[row, t]], known[row], filtered)
            nats[row, t] = np.log(share) if share > 0.0 else -np.inf
            if ids[row, t] == stop:
                known[row] = first
            else:
                into(filtered, a, known[row])


@njit(cache=True, nogil=True)
def both(
    table: np.ndarray, ids: np.ndarray, a: np.ndarray, turned: np.ndarray, first: np.ndarray, filtered: np.ndarray,
    smoothed: np.ndarray,
) -> None:  # fmt: skip
    """P(s_t | o_1 .. o_t) and P(s_t | o_1 .. o_T) of one row, each (T, K)."""
    shares, known, later = np.empty(len(ids)), first.copy(), np.ones(len(first))
    onward = np.empty(filtered.shape)
    forwards(table, ids, a, known, filtered, shares)
    backwards(table, ids, turned, shares, later, smoothed, onward)
    for t in range(len(ids)):
        for j in range(len(first)):
            smoothed[t, j] *= filtered[t, j]
