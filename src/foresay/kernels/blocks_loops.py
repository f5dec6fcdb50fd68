"""One step through all blocks of a Transformer on a CPU, in one call: what `Block` does with each, and the cache.

    x + Wo attention(norm x),  then  x + W2 act(W1 norm x)        LayerNorm before; act: relu, gelu, gelu-tanh

Threads share the outputs of every product and the heads of the attention, and wait for one another between them. A
row's numbers are the same with any number of threads and beside any other rows. The products are thin_loops.py's.

x (B, H); of each layer caches k (B, C, G, d), v (B, C, G, e); slot `end` is the newest and is written here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cfunc, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from foresay.kernels.addresses import reals, wholes
from foresay.kernels.thin_loops import LOOSE, carray, number_of_threads, own_number, product
from foresay.kernels.word_vectors.vector import BYTES, LANES, LOG2E, REALS, WORD, Writer, every

wait_for_all = types.ExternalFunction("GOMP_barrier", types.void())

# What a call passes on: numbers, addresses of float32 (`SMALL`: eps, scale of scores), addresses of whole numbers ..
(
    LAYERS, ROWS, SIZE, HEADS, GROUPS, WIDE, DEEP, HIDDEN, ACT, SLOTS, END, WINDOW,
    X, NORMED, QKV, MIXED, INNER, ADDED, OUTPUTS, TURNS, SMALL, TABLE, AT, BEGUN, POSITION, HEAD,
) = range(26)  # fmt: skip
# .. then of each layer the addresses of weights, biases and caches
(
    GAIN, SHIFT, W_QKV, B_QKV, W_JOIN, B_JOIN, DENSE_GAIN, DENSE_SHIFT, W_RISE, B_RISE, W_FALL, B_FALL, KEYS, VALUES,
    LAYER,
) = range(15)  # fmt: skip
RELU, GELU, GELU_TANH = 1, 2, 3
ACTS = {"relu": RELU, "gelu": GELU, "gelu-tanh": GELU_TANH}
ROOT = 0.7071067811865476
# erf z = 1 - (a1 t + .. + a5 t^5) exp(-z^2), t = 1 / (1 + p z), to 1.5e-7 (Abramowitz and Stegun 7.1.26)
ERF, ERF_P = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592), 0.3275911


def _negative_power(write: Writer, x: Any) -> Any:
    """exp(-x), of x from -60 to 60."""
    x = write.call("llvm.maxnum.v16f32", REALS, x, every(-60.0))
    x = write.call("llvm.minnum.v16f32", REALS, x, every(60.0))
    return write.power(write.builder.fmul(x, every(-LOG2E)))


def _gelu_tanh(write: Writer, x: Any) -> Any:
    """x sigmoid 2u, which is x (1 + tanh u) / 2."""
    builder = write.builder
    factor = write.fused(builder.fmul(x, x), every(0.07135481627260025), every(1.5957691216057308))
    e = _negative_power(write, builder.fmul(x, factor))
    return builder.fdiv(x, builder.fadd(every(1.0), e))


def _gelu(write: Writer, x: Any) -> Any:
    """x/2 times what is above or below, the smaller of which is p = poly(t) exp(-z^2)."""
    builder = write.builder
    z = write.call("llvm.fabs.v16f32", REALS, builder.fmul(x, every(ROOT)))
    t = builder.fdiv(every(1.0), write.fused(every(ERF_P), z, every(1.0)))
    power = every(ERF[0])
    for value in ERF[1:]:
        power = write.fused(power, t, every(value))
    p = builder.fmul(builder.fmul(power, t), _negative_power(write, builder.fmul(z, z)))
    above = builder.fcmp_ordered(">", x, every(0.0))
    return builder.fmul(builder.fmul(x, every(0.5)), builder.select(above, builder.fsub(every(2.0), p), p))


def _relu(write: Writer, x: Any) -> Any:
    return write.call("llvm.maxnum.v16f32", REALS, x, every(0.0))


def _acting(how: Any) -> Any:
    @intrinsic
    def act(context: Any, address: Any, vectors: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            write = Writer(builder)
            with cgutils.for_range(builder, given[1]) as loop:
                place = write.add(given[0], builder.mul(loop.index, WORD(BYTES)))
                write.store(how(write, write.load(place)), place)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), generate

    return act


relu, gelu, gelu_tanh = _acting(_relu), _acting(_gelu), _acting(_gelu_tanh)


@njit(nogil=True, cache=True, fastmath=LOOSE)
def activate(address: int, rows: int, width: int, begin: int, end: int, act: int) -> None:
    for r in range(rows):
        at, vectors = address + 4 * (r * width + begin), (end - begin) // LANES
        if act == RELU:
            relu(at, vectors)
        elif act == GELU:
            gelu(at, vectors)
        else:
            gelu_tanh(at, vectors)


@njit(nogil=True, cache=True, fastmath=LOOSE)
def norm(x: Any, gain: Any, shift: Any, y: Any, eps: float) -> None:
    width = x.shape[1]
    for r in range(len(x)):
        total = np.float32(0.0)
        for i in range(width):
            total += x[r, i]
        mean, square = total / np.float32(width), np.float32(0.0)
        for i in range(width):
            square += (x[r, i] - mean) * (x[r, i] - mean)
        scale = np.float32(1.0) / np.sqrt(square / np.float32(width) + np.float32(eps))
        for i in range(width):
            y[r, i] = (x[r, i] - mean) * scale * gain[i] + shift[i]


@njit(nogil=True, cache=True)
def copy(x: Any, y: Any) -> None:
    """As y[:] = x, which takes numba seconds to compile."""
    for i in range(len(x)):
        y[i] = x[i]


@njit(nogil=True, cache=True, fastmath=LOOSE)
def turn(x: Any, y: Any, turns: Any, b: int, turned: bool) -> None:
    """A query or key, its halves turned into one another (positions.py)."""
    half = len(x) // 2
    if not turned:
        copy(x, y)
        return
    for i in range(half):
        c, s = turns[0, b, i], turns[1, b, i]
        y[i], y[half + i] = x[i] * c - x[half + i] * s, x[half + i] * c + x[i] * s


@njit(nogil=True, cache=True, fastmath=LOOSE)
def look_back(given: Any, layer: Any, scale: float, low: int, high: int) -> None:
    """Pairs low..high of rows and heads: attention over the slots each sees, the newest among them."""
    rows, heads, groups, wide, deep = given[ROWS], given[HEADS], given[GROUPS], given[WIDE], given[DEEP]
    slots, end, share = given[SLOTS], given[END], given[HEADS] // given[GROUPS]
    qkv = carray(reals(given[QKV]), (rows, heads * wide + groups * (wide + deep)))
    mixed = carray(reals(given[MIXED]), (rows, heads, deep))
    keys, values = (
        carray(reals(layer[KEYS]), (rows, slots, groups, wide)),
        carray(reals(layer[VALUES]), (rows, slots, groups, deep)),
    )
    table, at = carray(wholes(given[TABLE]), (rows, slots)), carray(wholes(given[AT]), (rows, slots))
    begun, position = carray(wholes(given[BEGUN]), (rows,)), carray(wholes(given[POSITION]), (rows,))
    turns, turned = carray(reals(given[TURNS]), (2, rows, wide // 2)), given[TURNS] != 0  # none are not read
    seen, weights = np.empty(end + 1, np.int64), np.empty(end + 1, np.float32)
    query, key = np.empty(wide, np.float32), np.empty(wide, np.float32)
    count, before = 0, -1
    for pair in range(low, high):
        b, n = pair // heads, pair % heads
        group = n // share
        if b != before:
            first, count, before = max(begun[b], position[b] - given[WINDOW] + 1), 0, b
            for c in range(end + 1):
                if first <= at[b, c] <= position[b]:
                    seen[count] = c
                    count += 1
        turn(qkv[b, n * wide : (n + 1) * wide], query, turns, b, turned)
        own = heads * wide + group * wide
        turn(qkv[b, own : own + wide], key, turns, b, turned)
        own = (heads + groups) * wide + group * deep
        value = qkv[b, own : own + deep]
        if n % share == 0:
            copy(key, keys[b, end, group])
            copy(value, values[b, end, group])
        best = np.float32(-np.inf)
        for i in range(count):
            c, score = seen[i], np.float32(0.0)
            if c == end:
                for d in range(wide):
                    score += query[d] * key[d]
            else:
                row = table[b, c]
                for d in range(wide):
                    score += query[d] * keys[row, c, group, d]
            weights[i] = np.float32(scale) * score
            best = max(best, weights[i])
        total = np.float32(0.0)
        for i in range(count):
            weights[i] = np.exp(weights[i] - best)
            total += weights[i]
        for d in range(deep):
            mixed[b, n, d] = np.float32(0.0)
        for i in range(count):
            c, weight = seen[i], weights[i] / total
            if c == end:
                for d in range(deep):
                    mixed[b, n, d] += weight * value[d]
            else:
                row = table[b, c]
                for d in range(deep):
                    mixed[b, n, d] += weight * values[row, c, group, d]


@njit(nogil=True, cache=True)
def part_of(number: int, thread: int, threads: int, whole: int) -> tuple[int, int]:
    """A thread's share of so many, in pieces that stay whole."""
    pieces = (number + whole - 1) // whole
    return pieces * thread // threads * whole, min(pieces * (thread + 1) // threads * whole, number)


@njit(nogil=True, cache=True)
def multiply(x: int, w: int, b: int, y: int, rows: int, width: int, outs: int, begin: int, end: int) -> None:
    product(x, w, b, y, rows, width // LANES, 4 * width, 4 * width, 4 * outs, begin, end)


@njit(nogil=True, cache=True)
def add(x: Any, y: Any, begin: int, end: int) -> None:
    for r in range(len(x)):
        for i in range(begin, end):
            x[r, i] += y[r, i]


@njit(nogil=True, cache=True)
def go_through(given: Any, thread: Any, threads: Any) -> None:
    """A thread's share of the step."""
    rows, size, heads, hidden = given[ROWS], given[SIZE], given[HEADS], given[HIDDEN]
    small = carray(reals(given[SMALL]), (2,))
    wide = heads * given[WIDE] + given[GROUPS] * (given[WIDE] + given[DEEP])
    own = given[NORMED] + 4 * thread * rows * size
    x, normed = carray(reals(given[X]), (rows, size)), carray(reals(own), (rows, size))
    added = carray(reals(given[ADDED]), (rows, size))
    outputs = carray(reals(given[OUTPUTS]), (given[LAYERS], rows, size))
    begin, end = part_of(size, thread, threads, LANES)
    for n in range(given[LAYERS]):
        layer = given[HEAD + n * LAYER : HEAD + (n + 1) * LAYER]
        norm(x, carray(reals(layer[GAIN]), (size,)), carray(reals(layer[SHIFT]), (size,)), normed, small[0])
        low, high = part_of(wide, thread, threads, LANES)
        multiply(own, layer[W_QKV], layer[B_QKV], given[QKV], rows, size, wide, low, high)
        if threads > 1:
            wait_for_all()
        low, high = part_of(rows * heads, thread, threads, 1)
        look_back(given, layer, small[1], low, high)
        if threads > 1:
            wait_for_all()
        multiply(given[MIXED], layer[W_JOIN], layer[B_JOIN], given[ADDED], rows, heads * given[DEEP], size, begin, end)
        add(x, added, begin, end)
        if threads > 1:
            wait_for_all()
        dense_gain, dense_shift = carray(reals(layer[DENSE_GAIN]), (size,)), carray(reals(layer[DENSE_SHIFT]), (size,))
        norm(x, dense_gain, dense_shift, normed, small[0])
        low, high = part_of(hidden, thread, threads, LANES)
        multiply(own, layer[W_RISE], layer[B_RISE], given[INNER], rows, size, hidden, low, high)
        activate(given[INNER], rows, hidden, low, high, given[ACT])
        if threads > 1:
            wait_for_all()
        multiply(given[INNER], layer[W_FALL], layer[B_FALL], given[ADDED], rows, hidden, size, begin, end)
        add(x, added, begin, end)
        for r in range(rows):
            copy(x[r, begin:end], outputs[n, r, begin:end])
        if threads > 1:
            wait_for_all()


@njit(nogil=True, cache=True)
def all_of(table: Any) -> Any:
    return carray(table, (HEAD + carray(table, (1,))[0] * LAYER,))


@cfunc(types.void(types.CPointer(types.int64)), cache=True)
def whole(table: Any) -> None:
    """All of it, on one thread."""
    go_through(all_of(table), 0, 1)


def shared() -> Any:
    """The share of one thread of torch's team, which must have been found before."""

    @cfunc(types.void(types.CPointer(types.int64)), cache=True)
    def share(table: Any) -> None:
        go_through(all_of(table), np.int64(own_number()), np.int64(number_of_threads()))

    return share
