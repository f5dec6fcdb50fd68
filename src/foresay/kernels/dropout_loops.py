"""Numbers dropped at random on a CPU: loops for dropout.py and flash_loops.py.

y = D x,  D = f, or 0 with probability p

Which, is a hash of a key and the place of the number in its row, so that the way back finds the same ones and nothing
is kept. Many numbers are rows of PIECE of them, each with a key of its own: any thread finds the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import cfunc, njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.numpy_support import carray

from foresay.kernels.addresses import reals
from foresay.kernels.thin_loops import number_of_threads, own_number
from foresay.kernels.word_vectors.vector import BYTES, LANES, WHOLE, WHOLES, WORD, Writer, every

written: Any = intrinsic  # such functions are called without their context
X, Y, NUMBERS, SHARE, SEED, FACTOR = range(6)  # addresses of x, y and f; SHARE is p times 2 ** 32
TABLE = 6
PIECE = 4096
GOLDEN = 0x9E3779B9
SHIFTS, FACTORS = (16, 15, 16), (0x7FEB352D, 0x846CA68B)  # Wellons' lowbias32


def _hashed(write: Writer, x: Any) -> Any:
    """Whole numbers of 32 bits, well mixed."""
    builder = write.builder
    for shift, factor in zip(SHIFTS, FACTORS, strict=False):
        x = builder.xor(x, builder.lshr(x, ir.Constant(WHOLES, [shift] * LANES)))
        x = builder.mul(x, ir.Constant(WHOLES, [factor] * LANES))
    return builder.xor(x, builder.lshr(x, ir.Constant(WHOLES, [SHIFTS[2]] * LANES)))


def _spread(write: Writer, number: Any) -> Any:
    """A whole number in every lane."""
    empty = ir.Constant(WHOLES, ir.Undefined)
    one = write.builder.insert_element(empty, number, WHOLE(0))
    return write.builder.shuffle_vector(one, empty, ir.Constant(WHOLES, [0] * LANES))


@written
def drop(context: Any, x: Any, y: Any, vectors: Any, key: Any, share: Any, factor: Any) -> Any:
    """y is factor x, or 0 where the hash of its column and the row's key is below the share of 2 ** 32."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        write = Writer(builder)
        key, share = (_spread(write, builder.trunc(one, WHOLE)) for one in given[3:5])
        factor, first = write.splat(given[5]), ir.Constant(WHOLES, list(range(LANES)))
        with cgutils.for_range(builder, given[2]) as loop:
            offset = builder.mul(loop.index, WORD(BYTES))
            begin = builder.trunc(builder.mul(loop.index, WORD(LANES)), WHOLE)
            column = builder.add(_spread(write, begin), first)
            mixed = _hashed(write, builder.add(builder.mul(column, ir.Constant(WHOLES, [GOLDEN] * LANES)), key))
            kept = builder.icmp_unsigned(">=", mixed, share)
            found = builder.fmul(factor, write.load(write.add(given[0], offset)))
            write.store(builder.select(kept, found, every(0.0)), write.add(given[1], offset))
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5, types.float32), generate


@njit(nogil=True, cache=True)
def is_dropped(column, key, share):
    """The same of one number."""
    x = np.uint32(column * GOLDEN + key)
    x = np.uint32((x ^ (x >> np.uint32(SHIFTS[0]))) * np.uint32(FACTORS[0]))
    x = np.uint32((x ^ (x >> np.uint32(SHIFTS[1]))) * np.uint32(FACTORS[1]))
    return np.uint32(x ^ (x >> np.uint32(SHIFTS[2]))) < np.uint32(share)


@njit(nogil=True, cache=True)
def key_of(seed, row):
    """Of a row (splitmix64)."""
    x = np.uint64(seed) + np.uint64(row) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((x ^ (x >> np.uint64(31))) & np.uint64(0xFFFFFFFF))


@njit(nogil=True, cache=True)
def go_through(given, thread, threads):
    """A thread's share of the pieces."""
    numbers, share, factor = given[NUMBERS], given[SHARE], carray(reals(given[FACTOR]), (1,))[0]
    x, y = carray(reals(given[X]), (numbers,)), carray(reals(given[Y]), (numbers,))
    pieces = (numbers + PIECE - 1) // PIECE
    for piece in range(pieces * thread // threads, pieces * (thread + 1) // threads):
        begin, key = piece * PIECE, key_of(given[SEED], piece)
        vectors = min(PIECE, numbers - begin) // LANES
        drop(given[X] + 4 * begin, given[Y] + 4 * begin, vectors, key, share, factor)
        for i in range(begin + LANES * vectors, min(begin + PIECE, numbers)):
            y[i] = np.float32(0.0) if is_dropped(i - begin, key, share) else factor * x[i]


@cfunc(types.void(types.CPointer(types.int64)), cache=True)
def whole(table) -> None:
    """All of it, on one thread."""
    go_through(carray(table, (TABLE,)), 0, 1)


def shared() -> Any:
    """The share of one thread of torch's team, which must have been found before."""

    @cfunc(types.void(types.CPointer(types.int64)), cache=True)
    def share(table) -> None:
        go_through(carray(table, (TABLE,)), np.int64(own_number()), np.int64(number_of_threads()))

    return share
