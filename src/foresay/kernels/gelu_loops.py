"""GELU with tanh, and its gradient, of many numbers on a CPU: loops for gelu.py.

y = x s,  s = sigmoid 2u,  2u = a x + b x^3         (1 + tanh u) / 2 is s
dx = dy (s + x s (1 - s) (a + 3 b x^2))
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cfunc, njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.numpy_support import carray

from foresay.kernels.thin_loops import number_of_threads, own_number
from foresay.kernels.word_vectors.vector import BYTES, LOG2E, REALS, WORD, Writer, every

written: Any = intrinsic  # such functions are called without their context
X, DY, OUT, VECTORS = range(4)  # addresses; on the way there DY is 0
TABLE = 4
A, B = 1.5957691216057308, 0.07135481627260025


def _sigmoid(write: Writer, x: Any, square: Any) -> Any:
    """s of x, given x^2."""
    builder = write.builder
    t = builder.fmul(x, write.fused(square, every(B), every(A)))
    t = write.call("llvm.maxnum.v16f32", REALS, t, every(-60.0))
    t = write.call("llvm.minnum.v16f32", REALS, t, every(60.0))
    return builder.fdiv(every(1.0), builder.fadd(every(1.0), write.power(builder.fmul(t, every(-LOG2E)))))


@written
def there(context: Any, x: Any, y: Any, vectors: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        write = Writer(builder)
        with cgutils.for_range(builder, given[2]) as loop:
            offset = builder.mul(loop.index, WORD(BYTES))
            x = write.load(write.add(given[0], offset))
            write.store(builder.fmul(x, _sigmoid(write, x, builder.fmul(x, x))), write.add(given[1], offset))
        return context.get_dummy_value()

    return types.void(*[types.int64] * 3), generate


@written
def back(context: Any, x: Any, dy: Any, dx: Any, vectors: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        write = Writer(builder)
        with cgutils.for_range(builder, given[3]) as loop:
            offset = builder.mul(loop.index, WORD(BYTES))
            x, dy = (write.load(write.add(one, offset)) for one in given[:2])
            square = builder.fmul(x, x)
            s = _sigmoid(write, x, square)
            slope = builder.fmul(x, write.fused(square, every(3 * B), every(A)))
            rest = builder.fmul(builder.fmul(s, slope), builder.fsub(every(1.0), s))
            write.store(builder.fmul(dy, builder.fadd(s, rest)), write.add(given[2], offset))
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), generate


@njit(nogil=True, cache=True)
def go_through(given, thread, threads):
    """A thread's share."""
    begin, end = given[VECTORS] * thread // threads, given[VECTORS] * (thread + 1) // threads
    at = BYTES * begin
    if given[DY] != 0:
        back(given[X] + at, given[DY] + at, given[OUT] + at, end - begin)
    else:
        there(given[X] + at, given[OUT] + at, end - begin)


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
