"""y = x W' + b for few rows on a CPU: all cores, sixteen numbers at a time, W read once, from its first to its last.

A step of decoding reads every weight for a handful of rows, so it is as fast as memory. Libraries take several rows of
W at a time, which a processor does not see coming: for one row of x, 384 wide, theirs reads 9 GB a second here, one row
of W after another 30. For more rows of x, blocks of four of them by four of W are multiplied, and the lines of the next
block are asked for meanwhile.

The sum over k of every output runs in the same order in any block, so a row's result is the same beside any others.

x (B, K), W (O, K), b (O) -> y (B, O), float32, K a multiple of sixteen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import cfunc, njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.numpy_support import carray

from foresay.kernels.word_vectors.vector import BYTES, LANES, REAL, WHOLE, WORD, Writer

BLOCK = 4
TABLE = 10  # numbers that a call passes on: addresses of x, W, b, y; B, O, K; rows of x, W, y in bytes
own_number = types.ExternalFunction("omp_get_thread_num", types.int32())
number_of_threads = types.ExternalFunction("omp_get_num_threads", types.int32())
LOOSE = {"reassoc", "contract", "nsz", "arcp"}


def _sums(write: Writer, xs: list[Any], ws: list[Any], steps: Any, ahead: Any) -> list[list[Any]]:
    """x . w of all pairs of rows."""
    builder, kept = write.builder, [write.kept(len(ws)) for _ in xs]
    with cgutils.for_range(builder, steps) as loop:
        offset = builder.mul(loop.index, WORD(BYTES))
        inputs = [write.load(write.add(x, offset)) for x in xs]
        for o, w in enumerate(ws):
            here = write.add(w, offset)
            _ask_for(write, write.add(here, ahead))
            weights = write.load(here)
            for r, one in enumerate(inputs):
                builder.store(write.fused(one, weights, builder.load(kept[r][o])), kept[r][o])
    zero = REAL(0.0)
    return [
        [write.call("llvm.vector.reduce.fadd.v16f32", REAL, zero, builder.load(one)) for one in row] for row in kept
    ]


def _ask_for(write: Writer, address: Any) -> None:
    builder, name = write.builder, "llvm.prefetch.p0"
    place, flags = builder.inttoptr(address, ir.IntType(8).as_pointer()), (WHOLE(0), WHOLE(3), WHOLE(1))
    function = builder.module.globals.get(name)
    if function is None:
        function = ir.Function(builder.module, ir.FunctionType(ir.VoidType(), [place.type, *[WHOLE] * 3]), name)
    builder.call(function, (place, *flags))


def _block(rows: int, outs: int) -> Any:
    """Some rows of x by some of W: addresses of x, W, b (0: none) and y, bytes of a row of each, vectors of a row."""

    @intrinsic
    def block(
        context: Any, x: Any, w: Any, b: Any, y: Any, x_row: Any, w_row: Any, y_row: Any, steps: Any, ahead: Any
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            x, w, b, y, x_row, w_row, y_row, steps, ahead = given
            write = Writer(builder)
            xs = [builder.add(x, builder.mul(x_row, WORD(r))) for r in range(rows)]
            ws = [builder.add(w, builder.mul(w_row, WORD(o))) for o in range(outs)]
            sums = _sums(write, xs, ws, steps, ahead)
            for o in range(outs):
                place = cgutils.alloca_once_value(builder, REAL(0.0))
                with builder.if_then(builder.icmp_unsigned("!=", b, WORD(0))):
                    builder.store(write.load(write.add(b, 4 * o), REAL), place)
                bias = builder.load(place)
                for r in range(rows):
                    to = write.add(builder.add(y, builder.mul(y_row, WORD(r))), 4 * o)
                    write.store(builder.fadd(sums[r][o], bias), to)
            return context.get_dummy_value()

        return types.void(*[types.int64] * 9), generate

    return block


one_by_one, two_by_one, four_by_one = _block(1, 1), _block(2, 1), _block(4, 1)
two_by_four, four_by_four = _block(2, 4), _block(4, 4)


@njit(nogil=True, cache=True, fastmath=LOOSE)
def product(x, w, b, y, rows, steps, x_row, w_row, y_row, begin, end) -> None:
    """Outputs begin..end of all rows."""
    o = begin
    while o < end:
        outs = BLOCK if rows > 1 and o + BLOCK <= end else 1
        ahead, r = outs * w_row, 0
        while r < rows:
            some = 4 if rows - r >= 4 else 2 if rows - r >= 2 else 1
            for n in range(o, o + outs, outs if some > 1 else 1):
                at_x, at_w, at_y = x + r * x_row, w + n * w_row, y + r * y_row + 4 * n
                at_b = b + 4 * n if b != 0 else 0
                if some == 1:
                    one_by_one(at_x, at_w, at_b, at_y, x_row, w_row, y_row, steps, ahead)
                elif some == 2 and outs == 1:
                    two_by_one(at_x, at_w, at_b, at_y, x_row, w_row, y_row, steps, ahead)
                elif some == 2:
                    two_by_four(at_x, at_w, at_b, at_y, x_row, w_row, y_row, steps, ahead)
                elif outs == 1:
                    four_by_one(at_x, at_w, at_b, at_y, x_row, w_row, y_row, steps, ahead)
                else:
                    four_by_four(at_x, at_w, at_b, at_y, x_row, w_row, y_row, steps, ahead)
            r += some
        o += outs


@cfunc(types.void(types.CPointer(types.int64)), cache=True)
def whole(table) -> None:
    """All outputs, on one thread."""
    given = carray(table, (TABLE,))
    x, w, b, y, rows, outs, width = given[0], given[1], given[2], given[3], given[4], given[5], given[6]
    product(x, w, b, y, rows, width // LANES, given[7], given[8], given[9], 0, outs)


def shared() -> Any:
    """The share of one thread of torch's team, which must have been found before."""

    @cfunc(types.void(types.CPointer(types.int64)), cache=True)
    def share(table) -> None:
        given = carray(table, (TABLE,))
        x, w, b, y, rows, outs, width = given[0], given[1], given[2], given[3], given[4], given[5], given[6]
        number, threads = np.int64(own_number()), np.int64(number_of_threads())
        blocks = (outs + BLOCK - 1) // BLOCK
        begin, end = blocks * number // threads * BLOCK, blocks * (number + 1) // threads * BLOCK
        product(x, w, b, y, rows, width // LANES, given[7], given[8], given[9], begin, min(end, outs))

    return share
