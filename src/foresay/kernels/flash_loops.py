"""Attention of whole rows on a CPU, forwards and backwards, a head at a time: loops for flash.py.

    S = s Q K',  P = exp(S - lse),  O = P V                   lse: log of the sum of exp S, kept for the way back
    dP = dO V',  dS = s P (dP - rowsum(dO O)),  dQ = dS K,  dK = dS' Q,  dV = P' dO

With dropout P is D P where it meets V, and dP is D dP: D is 1 / (1 - p), or 0 with probability p. Which, is a hash of
the seed, the head, the row and the column, so that the way back finds the same ones and nothing is kept.

A step sees the slots low <= c < high: all, all up to itself, or a span of its own; one that sees none gives zeros.

Every product is made of one piece: eight rows by thirty-two columns held in registers, a step of which multiplies eight
single numbers with two vectors. Eight steps compute what one of them sees, to whole vectors; the last steps and slots,
where they are no whole piece, pass through `spare`. Heads are shared among threads, and a head's numbers are the same
on any of them.

q, o and their gradients (B, N, T, d), k, v and theirs (B, N, C, d), each by the address and the bytes from batch to
batch, head to head, row to row; spans (B, T, 2).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cfunc, njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.numpy_support import carray

from foresay.kernels.addresses import reals, wholes
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
BATCH, HEADS, STEPS, SLOTS, WIDTH, CAUSAL, SPANS, BACK, DROP, SEED, SCALE, LSE, SCRATCH, ROOM = range(14)
Q, K, V, MIXED, DO, DQ, DK, DV = range(14, 46, 4)
TABLE = 46
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
def turned(x, x_row, y, steps, width, wide):
    """x (T, d) as y (d, T), 0 up to a whole vector."""
    whole = carray(reals(y), (width, wide))
    for t in range(steps):
        row = carray(reals(x + t * x_row), (width,))
        for i in range(width):
            whole[i, t] = row[i]
    for i in range(width):
        for t in range(steps, wide):
            whole[i, t] = 0.0


@njit(nogil=True, cache=True)
def copied(x, x_row, y, y_row, rows, width):
    for r in range(rows):
        one, other = carray(reals(x + r * x_row), (width,)), carray(reals(y + r * y_row), (width,))
        for c in range(width):
            other[c] = one[c]


@njit(nogil=True, cache=True)
def eight(x, x_row, rows, width, spare):
    """Eight rows to read, and the bytes between them: x itself, or its few rows and zeros."""
    if rows == ROWS:
        return x, x_row
    carray(reals(spare), (ROWS * width,))[rows * width :] = 0.0
    copied(x, x_row, spare, 4 * width, rows, width)
    return spare, 4 * width


@njit(nogil=True, cache=True)
def span(given, b, t):
    """The slots a step sees."""
    if given[SPANS]:
        own = carray(wholes(given[SPANS] + 16 * (b * given[STEPS] + t)), (2,))
        return own[0], own[1]
    return 0, t + 1 if given[CAUSAL] else given[SLOTS]


@njit(nogil=True, cache=True)
def span_of_rows(given, b, first, rows):
    """From the lowest to the highest slot that one of them sees."""
    low, high = given[SLOTS], 0
    for t in range(first, first + rows):
        own_low, own_high = span(given, b, t)
        if own_low < own_high:
            low, high = min(low, own_low), max(high, own_high)
    return min(low, high), high


@njit(nogil=True, cache=True)
def hide(s, low, high, first, columns):
    """Of a row from column `first` on, what it does not see."""
    row = carray(reals(s), (columns,))
    for c in range(min(low - first, columns)):
        row[c] = UNSEEN
    for c in range(max(high - first, 0), columns):
        row[c] = UNSEEN


@njit(nogil=True, cache=True)
def place_of(given, tensor, b, n):
    """The address of a head's first row, and the bytes from row to row."""
    return given[tensor] + b * given[tensor + 1] + n * given[tensor + 2], given[tensor + 3]


@njit(nogil=True, cache=True)
def up_to_whole(number, of):
    return (number + of - 1) // of * of


@njit(nogil=True, cache=True)
def forwards(given, b, n, scale, spread, room):
    steps, slots, width = given[STEPS], given[SLOTS], given[WIDTH]
    (q, q_row), (k, k_row), (v, v_row) = place_of(given, Q, b, n), place_of(given, K, b, n), place_of(given, V, b, n)
    o, o_row = place_of(given, MIXED, b, n)
    lse = carray(reals(given[LSE] + 4 * (b * given[HEADS] + n) * steps), (steps,))
    wide = 4 * up_to_whole(slots, LANES)
    s, spare = room + width * wide, room + (width + ROWS) * wide
    factor = scale * np.float32(LOG2E)
    turned(k, k_row, room, slots, width, wide // 4)
    for i in range(0, steps, ROWS):
        rows = min(ROWS, steps - i)
        low, high = span_of_rows(given, b, i, rows)
        first = low // LANES * LANES
        columns = up_to_whole(high, LANES) - first
        from_q, from_row = eight(q + i * q_row, q_row, rows, width, spare)
        multiply(from_q, from_row, 4, room + 4 * first, wide, s, wide, columns, width)
        multiply_by = carray(reals(spare + 4 * ROWS * width), (ROWS,))
        for r in range(rows):
            own_low, own_high = span(given, b, i + r)
            hide(s + r * wide, own_low, own_high, first, columns)
            if own_low >= own_high:
                lse[i + r], multiply_by[r] = 0.0, 0.0
                continue
            most = highest(s + r * wide, columns // LANES)
            total = soften(s + r * wide, columns // LANES, factor, factor * most)
            lse[i + r], multiply_by[r] = scale * most + np.log(total), np.float32(1.0) / total
            if given[DROP]:
                key = key_of(given[SEED], (b * given[HEADS] + n) * steps + i + r)
                drop(s + r * wide, s + r * wide, columns // LANES, key, given[DROP], spread)
        to, to_row = (o + i * o_row, o_row) if rows == ROWS else (spare, 4 * width)
        multiply(s, wide, 4, v + first * v_row, v_row, to, to_row, width, high - first)
        for r in range(rows):
            row, own = carray(reals(to + r * to_row), (width,)), carray(reals(o + (i + r) * o_row), (width,))
            for c in range(width):
                own[c] = multiply_by[r] * row[c]


@njit(nogil=True, cache=True, fastmath=LOOSE)
def product_of(x, y):
    total = np.float32(0.0)
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@njit(nogil=True, cache=True)
def rows_that_see(low, high, j):
    """The first and the last piece of rows with one that sees a slot of j .. j + 8."""
    first, last = len(low), -1
    for piece in range(len(low)):
        if low[piece] < j + ROWS and high[piece] > j:
            first, last = min(first, piece), piece
    return first, last


@njit(nogil=True, cache=True)
def emptied(x, x_row):
    """Eight rows, eight numbers of each."""
    for r in range(ROWS):
        carray(reals(x + r * x_row), (ROWS,))[:] = 0.0


@njit(nogil=True, cache=True)
def places_back(given, room):
    """What the way back keeps of a head: K' and V', P and dS, room for eight rows twice, and the pieces' spans."""
    width, wide = given[WIDTH], 4 * up_to_whole(given[SLOTS], LANES)
    pieces = up_to_whole(given[STEPS], ROWS) // ROWS
    p = room + 2 * width * wide
    ds = p + ROWS * pieces * wide
    spare = ds + ROWS * pieces * wide
    other = spare + 4 * ROWS * width
    spans = carray(wholes(other + 4 * ROWS * width), (2, pieces))
    return wide, room, room + width * wide, p, ds, spare, other, spans


@njit(nogil=True, cache=True)
def queries_back(given, b, n, scale, spread, room):
    """P, dS and dQ, and of each piece of rows the slots that it computed."""
    steps, slots, width = given[STEPS], given[SLOTS], given[WIDTH]
    (q, q_row), (k, k_row), (v, v_row) = place_of(given, Q, b, n), place_of(given, K, b, n), place_of(given, V, b, n)
    (o, o_row), (do, do_row) = place_of(given, MIXED, b, n), place_of(given, DO, b, n)
    dq, dq_row = place_of(given, DQ, b, n)
    lse = carray(reals(given[LSE] + 4 * (b * given[HEADS] + n) * steps), (steps,))
    wide, kt, vt, p, ds, spare, other, spans = places_back(given, room)
    turned(k, k_row, kt, slots, width, wide // 4)
    turned(v, v_row, vt, slots, width, wide // 4)
    for i in range(0, steps, ROWS):
        rows = min(ROWS, steps - i)
        low, high = span_of_rows(given, b, i, rows)
        spans[0, i // ROWS], spans[1, i // ROWS] = low, high
        first = low // LANES * LANES
        columns = up_to_whole(high, LANES) - first
        own, change = p + i * wide + 4 * first, ds + i * wide + 4 * first
        from_q, from_row = eight(q + i * q_row, q_row, rows, width, spare)
        multiply(from_q, from_row, 4, kt + 4 * first, wide, own, wide, columns, width)
        from_do, from_row = eight(do + i * do_row, do_row, rows, width, other)
        multiply(from_do, from_row, 4, vt + 4 * first, wide, change, wide, columns, width)
        for r in range(rows):
            t = i + r
            own_low, own_high = span(given, b, t)
            hide(own + r * wide, own_low, own_high, first, columns)
            soften(own + r * wide, columns // LANES, scale * np.float32(LOG2E), lse[t] * np.float32(LOG2E))
            less = product_of(carray(reals(o + t * o_row), (width,)), carray(reals(do + t * do_row), (width,)))
            key = key_of(given[SEED], (b * given[HEADS] + n) * steps + t)
            if given[DROP]:
                drop(change + r * wide, change + r * wide, columns // LANES, key, given[DROP], spread)
            weigh(change + r * wide, own + r * wide, columns // LANES, less, scale)
            if given[DROP]:
                drop(own + r * wide, own + r * wide, columns // LANES, key, given[DROP], spread)
        to, to_row = (dq + i * dq_row, dq_row) if rows == ROWS else (spare, 4 * width)
        multiply(change, wide, 4, k + first * k_row, k_row, to, to_row, width, high - first)
        if rows < ROWS:
            copied(spare, 4 * width, dq + i * dq_row, dq_row, rows, width)


@njit(nogil=True, cache=True)
def slots_back(given, b, n, room):
    """dK and dV, by P and dS of the rows that see a slot."""
    steps, slots, width = given[STEPS], given[SLOTS], given[WIDTH]
    (q, q_row), (do, do_row) = place_of(given, Q, b, n), place_of(given, DO, b, n)
    (dk, dk_row), (dv, dv_row) = place_of(given, DK, b, n), place_of(given, DV, b, n)
    wide, _, _, p, ds, spare, _, spans = places_back(given, room)
    lows, highs = spans[0], spans[1]
    for j in range(0, slots, ROWS):
        low, high = rows_that_see(lows, highs, j)
        for piece in range(low, high):  # those among them that did not compute it
            if j < lows[piece] // LANES * LANES or j >= up_to_whole(highs[piece], LANES):
                emptied(p + ROWS * piece * wide + 4 * j, wide)
                emptied(ds + ROWS * piece * wide + 4 * j, wide)
        i, rows = ROWS * low, min(ROWS, slots - j)
        many = max(min(ROWS * (high + 1), steps) - i, 0)
        for from_weights, x, x_row, y, y_row in ((ds, q, q_row, dk, dk_row), (p, do, do_row, dv, dv_row)):
            to, to_row = (y + j * y_row, y_row) if rows == ROWS else (spare, 4 * width)
            multiply(from_weights + i * wide + 4 * j, 4, wide, x + i * x_row, x_row, to, to_row, width, many)
            if rows < ROWS:
                copied(spare, 4 * width, y + j * y_row, y_row, rows, width)


@njit(nogil=True, cache=True)
def go_through(given, thread, threads):
    """A thread's share of the heads."""
    heads = given[BATCH] * given[HEADS]
    scale, spread = carray(reals(given[SCALE]), (2,))
    room = given[SCRATCH] + thread * given[ROOM]
    for head in range(heads * thread // threads, heads * (thread + 1) // threads):
        b, n = head // given[HEADS], head % given[HEADS]
        if given[BACK]:
            queries_back(given, b, n, scale, spread, room)
            slots_back(given, b, n, room)
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
