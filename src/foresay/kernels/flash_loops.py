"""Attention of whole rows on a CPU, forwards and backwards, a head at a time: loops for flash.py.

    S = s Q K',  P = exp(S - lse),  O = P V                   lse: log of the sum of exp S, kept for the way back
    dP = dO V',  dS = s P (dP - rowsum(dO O)),  dQ = dS K,  dK = dS' Q,  dV = P' dO

With dropout P is D P where it meets V, and dP is D dP: D is 1 / (1 - p), or 0 with probability p. Which, is a hash of
the seed, the head, the row and the column, so that the way back finds the same ones and nothing is kept.

Every product is made of one piece: eight rows by thirty-two columns held in registers, a step of which multiplies eight
single numbers with two vectors. What a row does not see is not computed, but for the last few columns of a piece. Heads
are shared among threads, and a head's numbers are the same on any of them.

q, k, v, o and their gradients (B, N, T, d) by the address and the bytes from batch to batch, head to head, row to row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cfunc, njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.numpy_support import carray

from foresay.kernels.blocks_loops import reals
from foresay.kernels.dropout_loops import drop, key_of
from foresay.kernels.thin_loops import LOOSE, number_of_threads, own_number
from foresay.kernels.word_vectors.vector import (
    BYTES,
    LANES,
    LOG2E,
    REAL,
    REALS,
    WORD,
    Writer,
    every,
)

written: Any = intrinsic  # such functions are called without their context
ROWS = 8  # of a piece
# What a call passes on: numbers, DROP being p times 2 ** 32; SCALE is the address of two, s and 1 / (1 - p); of each
# tensor its address and three strides
BATCH, HEADS, STEPS, WIDTH, CAUSAL, BACK, DROP, SEED, SCALE, LSE, SCRATCH, ROOM = range(12)
Q, K, V, MIXED, DO, DQ, DK, DV = range(12, 44, 4)
TABLE = 44
UNSEEN = -1e30


def _piece(vectors: int) -> Any:
    """C = A B: addresses, bytes from row to row and from step to step of A, from row to row of B and of C, steps."""

    @written
    def piece(context: Any, a: Any, b: Any, c: Any, a_row: Any, a_step: Any, b_row: Any, c_row: Any, steps: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            a, b, c, a_row, a_step, b_row, c_row, steps = given
            write = Writer(builder)
            rows = [builder.add(a, builder.mul(a_row, WORD(r))) for r in range(ROWS)]
            sums = [write.kept(vectors) for _ in rows]
            with cgutils.for_range(builder, steps) as loop:
                from_b, from_a = builder.mul(loop.index, b_row), builder.mul(loop.index, a_step)
                columns = [write.load(write.add(write.add(b, from_b), j * BYTES)) for j in range(vectors)]
                for row, kept in zip(rows, sums, strict=True):
                    one = write.splat(write.load(write.add(row, from_a), REAL))
                    for place, column in zip(kept, columns, strict=True):
                        builder.store(write.fused(one, column, builder.load(place)), place)
            for r, kept in enumerate(sums):
                to = builder.add(c, builder.mul(c_row, WORD(r)))
                for j, place in enumerate(kept):
                    write.store(builder.load(place), write.add(to, j * BYTES))
            return context.get_dummy_value()

        return types.void(*[types.int64] * 8), generate

    return piece


one_wide, two_wide = _piece(1), _piece(2)


@written
def highest(context: Any, row: Any, vectors: Any) -> Any:
    """The largest number of a row."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        write = Writer(builder)
        (place,) = write.kept(1)
        builder.store(every(UNSEEN), place)
        with cgutils.for_range(builder, given[1]) as loop:
            x = write.load(write.add(given[0], builder.mul(loop.index, WORD(BYTES))))
            builder.store(write.call("llvm.maxnum.v16f32", REALS, x, builder.load(place)), place)
        return write.call("llvm.vector.reduce.fmax.v16f32", REAL, builder.load(place))

    return types.float32(types.int64, types.int64), generate


@written
def soften(context: Any, row: Any, vectors: Any, factor: Any, shift: Any) -> Any:
    """x becomes 2 ** (factor x - shift), 0 where that is next to nothing; their sum."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        write = Writer(builder)
        factor, shift = (write.splat(one) for one in given[2:])
        (total,) = write.kept(1)
        with cgutils.for_range(builder, given[1]) as loop:
            at = write.add(given[0], builder.mul(loop.index, WORD(BYTES)))
            t = write.fused(write.load(at), factor, builder.fneg(shift))
            held = write.call("llvm.minnum.v16f32", REALS, t, every(120.0))
            held = write.call("llvm.maxnum.v16f32", REALS, held, every(-120.0))
            p = builder.select(builder.fcmp_ordered(">", t, every(-120.0)), write.power(held), every(0.0))
            p = builder.fadd(p, builder.fsub(t, t))  # what is no number stays none
            write.store(p, at)
            builder.store(builder.fadd(p, builder.load(total)), total)
        return write.call("llvm.vector.reduce.fadd.v16f32", REAL, REAL(0.0), builder.load(total))

    return types.float32(types.int64, types.int64, types.float32, types.float32), generate


@written
def weigh(context: Any, row: Any, weights: Any, vectors: Any, less: Any, scale: Any) -> Any:
    """x becomes scale w (x - less)."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        write = Writer(builder)
        less, scale = (write.splat(one) for one in given[3:])
        with cgutils.for_range(builder, given[2]) as loop:
            offset = builder.mul(loop.index, WORD(BYTES))
            at = write.add(given[0], offset)
            x, w = write.load(at), write.load(write.add(given[1], offset))
            write.store(builder.fmul(builder.fmul(scale, w), builder.fsub(x, less)), at)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 3, types.float32, types.float32), generate


@njit(nogil=True, cache=True)
def multiply(a, a_row, a_step, b, b_row, c, c_row, columns, steps):
    """Eight rows of C, as wide as `columns`."""
    for j in range(0, columns, 2 * LANES):
        if j + 2 * LANES <= columns:
            two_wide(a, b + 4 * j, c + 4 * j, a_row, a_step, b_row, c_row, steps)
        else:
            one_wide(a, b + 4 * j, c + 4 * j, a_row, a_step, b_row, c_row, steps)


@njit(nogil=True, cache=True)
def turned(x, x_row, y, steps, width):
    """x (T, d) as y (d, T)."""
    whole = carray(reals(y), (width, steps))
    for t in range(steps):
        row = carray(reals(x + t * x_row), (width,))
        for i in range(width):
            whole[i, t] = row[i]


@njit(nogil=True, cache=True)
def hide(s, s_row, first, columns):
    """Of rows first .. first + 8, what stands after their own place."""
    for r in range(ROWS):
        row = carray(reals(s + r * s_row), (columns,))
        for c in range(first + r + 1, columns):
            row[c] = UNSEEN


@njit(nogil=True, cache=True)
def place_of(given, tensor, b, n):
    """The address of a head's first row, and the bytes from row to row."""
    return given[tensor] + b * given[tensor + 1] + n * given[tensor + 2], given[tensor + 3]


@njit(nogil=True, cache=True)
def forwards(given, b, n, scale, spread, room):
    steps, width, causal = given[STEPS], given[WIDTH], given[CAUSAL]
    (q, q_row), (k, k_row), (v, v_row) = place_of(given, Q, b, n), place_of(given, K, b, n), place_of(given, V, b, n)
    o, o_row = place_of(given, MIXED, b, n)
    lse = carray(reals(given[LSE] + 4 * (b * given[HEADS] + n) * steps), (steps,))
    s, wide = room + 4 * width * steps, 4 * steps
    factor = scale * np.float32(LOG2E)
    turned(k, k_row, room, steps, width)
    for i in range(0, steps, ROWS):
        columns = min((i + ROWS + LANES - 1) // LANES * LANES, steps) if causal else steps
        multiply(q + i * q_row, q_row, 4, room, wide, s, wide, columns, width)
        if causal:
            hide(s, wide, i, columns)
        multiply_by = carray(reals(s + ROWS * wide), (ROWS,))
        for r in range(ROWS):
            high = highest(s + r * wide, columns // LANES)
            total = soften(s + r * wide, columns // LANES, factor, factor * high)
            lse[i + r], multiply_by[r] = scale * high + np.log(total), np.float32(1.0) / total
            if given[DROP]:
                key = key_of(given[SEED], (b * given[HEADS] + n) * steps + i + r)
                drop(s + r * wide, s + r * wide, columns // LANES, key, given[DROP], spread)
        multiply(s, wide, 4, v, v_row, o + i * o_row, o_row, width, columns)
        for r in range(ROWS):
            row = carray(reals(o + (i + r) * o_row), (width,))
            for c in range(width):
                row[c] *= multiply_by[r]


@njit(nogil=True, cache=True, fastmath=LOOSE)
def product_of(x, y):
    total = np.float32(0.0)
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@njit(nogil=True, cache=True)
def backwards(given, b, n, scale, spread, room):
    steps, width, causal = given[STEPS], given[WIDTH], given[CAUSAL]
    (q, q_row), (k, k_row), (v, v_row) = place_of(given, Q, b, n), place_of(given, K, b, n), place_of(given, V, b, n)
    (o, o_row), (do, do_row) = place_of(given, MIXED, b, n), place_of(given, DO, b, n)
    (dq, dq_row), (dk, dk_row), (dv, dv_row) = (
        place_of(given, DQ, b, n),
        place_of(given, DK, b, n),
        place_of(given, DV, b, n),
    )
    lse = carray(reals(given[LSE] + 4 * (b * given[HEADS] + n) * steps), (steps,))
    wide, kt, vt = 4 * steps, room, room + 4 * width * steps
    p, ds = room + 8 * width * steps, room + 8 * width * steps + 4 * steps * steps
    turned(k, k_row, kt, steps, width)
    turned(v, v_row, vt, steps, width)
    for i in range(0, steps, ROWS):
        columns = min((i + ROWS + LANES - 1) // LANES * LANES, steps) if causal else steps
        own, change = p + i * wide, ds + i * wide
        multiply(q + i * q_row, q_row, 4, kt, wide, own, wide, columns, width)
        if causal:
            hide(own, wide, i, columns)
        multiply(do + i * do_row, do_row, 4, vt, wide, change, wide, columns, width)
        for r in range(ROWS):
            t = i + r
            soften(own + r * wide, columns // LANES, scale * np.float32(LOG2E), lse[t] * np.float32(LOG2E))
            less = product_of(carray(reals(o + t * o_row), (width,)), carray(reals(do + t * do_row), (width,)))
            key = key_of(given[SEED], (b * given[HEADS] + n) * steps + t)
            if given[DROP]:
                drop(change + r * wide, change + r * wide, columns // LANES, key, given[DROP], spread)
            weigh(change + r * wide, own + r * wide, columns // LANES, less, scale)
            if given[DROP]:
                drop(own + r * wide, own + r * wide, columns // LANES, key, given[DROP], spread)
        multiply(change, wide, 4, k, k_row, dq + i * dq_row, dq_row, width, columns)
    for j in range(0, steps, ROWS):  # keys: seen by rows from j on; of the first of them what is unseen is 0
        i = j if causal else 0
        from_q, from_do = q + i * q_row, do + i * do_row
        multiply(ds + i * wide + 4 * j, 4, wide, from_q, q_row, dk + j * dk_row, dk_row, width, steps - i)
        multiply(p + i * wide + 4 * j, 4, wide, from_do, do_row, dv + j * dv_row, dv_row, width, steps - i)


@njit(nogil=True, cache=True)
def go_through(given, thread, threads):
    """A thread's share of the heads."""
    heads = given[BATCH] * given[HEADS]
    scale, spread = carray(reals(given[SCALE]), (2,))
    room = given[SCRATCH] + thread * given[ROOM]
    for head in range(heads * thread // threads, heads * (thread + 1) // threads):
        b, n = head // given[HEADS], head % given[HEADS]
        if given[BACK]:
            backwards(given, b, n, scale, spread, room)
        else:
            forwards(given, b, n, scale, spread, room)


@cfunc(types.void(types.CPointer(types.int64)), cache=True)
def whole(table) -> None:
    """All heads, on one thread."""
    go_through(carray(table, (TABLE,)), 0, 1)


def shared() -> Any:
    """The share of one thread of torch's team, which must have been found before."""

    @cfunc(types.void(types.CPointer(types.int64)), cache=True)
    def share(table) -> None:
        go_through(carray(table, (TABLE,)), np.int64(own_number()), np.int64(number_of_threads()))

    return share
