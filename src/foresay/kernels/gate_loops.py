"""WaveNet's gate, and its gradient, of many numbers on a CPU: loops for gate.py.

e = exp(-2 a),  f = exp(-g),  r = 1 / ((1 + e) (1 + f))         so that one division does for both
t = (1 - e) (1 + f) r,  s = (1 + e) r,  z = (1 - e) r

Exponents are held within 40, where t and s are what they are at the ends and their product is still a number.
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
X, Z, DX, ROWS, HALF = range(5)  # addresses; DX is 0 on the way there, on the way back Z is dz; HALF in vectors
TABLE = 5
MOST = 40.0


def _exp_of(write: Writer, x: Any, factor: float) -> Any:
    """exp(factor x), the exponent held."""
    t = write.builder.fmul(x, every(factor))
    t = write.call("llvm.maxnum.v16f32", REALS, t, every(-MOST))
    t = write.call("llvm.minnum.v16f32", REALS, t, every(MOST))
    return write.power(write.builder.fmul(t, every(LOG2E)))


def _parts(write: Writer, a: Any, g: Any) -> tuple[Any, Any, Any, Any]:
    """1 - e, 1 + e, 1 + f and r."""
    builder, one = write.builder, every(1.0)
    e, f = _exp_of(write, a, -2.0), _exp_of(write, g, -1.0)
    over, under = builder.fadd(one, e), builder.fadd(one, f)
    return builder.fsub(one, e), over, under, builder.fdiv(one, builder.fmul(over, under))


def _or_none(write: Writer, a: Any, g: Any, found: Any) -> Any:
    """What was found; no number where a or g is none."""
    builder = write.builder
    return builder.select(builder.fcmp_unordered("uno", a, g), builder.fadd(a, g), found)


@written
def there(context: Any, x: Any, z: Any, half: Any) -> Any:
    """A row."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        write = Writer(builder)
        x, z, half = given
        second = builder.add(x, builder.mul(half, WORD(BYTES)))
        with cgutils.for_range(builder, half) as loop:
            offset = builder.mul(loop.index, WORD(BYTES))
            a, g = write.load(write.add(x, offset)), write.load(write.add(second, offset))
            less, _, _, r = _parts(write, a, g)
            write.store(_or_none(write, a, g, builder.fmul(less, r)), write.add(z, offset))
        return context.get_dummy_value()

    return types.void(*[types.int64] * 3), generate


@written
def back(context: Any, x: Any, dz: Any, dx: Any, half: Any) -> Any:
    """A row."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        write, one = Writer(builder), every(1.0)
        x, dz, dx, half = given
        wide = builder.mul(half, WORD(BYTES))
        with cgutils.for_range(builder, half) as loop:
            offset = builder.mul(loop.index, WORD(BYTES))
            a, g = write.load(write.add(x, offset)), write.load(write.add(builder.add(x, wide), offset))
            less, over, under, r = _parts(write, a, g)
            t, s = builder.fmul(builder.fmul(less, under), r), builder.fmul(over, r)
            ds = builder.fmul(write.load(write.add(dz, offset)), s)
            da = builder.fmul(ds, builder.fsub(one, builder.fmul(t, t)))
            dg = builder.fmul(builder.fmul(ds, t), builder.fsub(one, s))
            write.store(_or_none(write, a, g, da), write.add(dx, offset))
            write.store(_or_none(write, a, g, dg), write.add(builder.add(dx, wide), offset))
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), generate


@njit(nogil=True, cache=True)
def go_through(given, thread, threads):
    """A thread's share of the rows."""
    half = given[HALF]
    row = BYTES * half
    for n in range(given[ROWS] * thread // threads, given[ROWS] * (thread + 1) // threads):
        if given[DX] != 0:
            back(given[X] + 2 * row * n, given[Z] + row * n, given[DX] + 2 * row * n, half)
        else:
            there(given[X] + 2 * row * n, given[Z] + row * n, half)


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
