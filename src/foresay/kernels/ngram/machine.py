"""Two instructions that numba has no word for, and what stands for them where nothing is compiled.

fetch_soon(array, row)     begins to fetch array[row]; only the time of a later read depends on it, so any row will do
zeros_below(number)        how many zeros stand below the lowest one of a uint64 that has one
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

READ, KEEP, DATA = 0, 3, 1  # LLVM's numbers: it will be read, more than once, and is no code


def _fetch(typing: Any, array: Any, row: Any) -> tuple[Any, Any]:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        fields = context.make_array(signature.args[0])(context, builder, given[0])
        offset = builder.mul(builder.extract_value(fields.strides, 0), given[1])
        place = cgutils.pointer_add(builder, fields.data, offset, cgutils.voidptr_t)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(fetch, [place, number(READ), number(KEEP), number(DATA)])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def _zeros(typing: Any, number: Any) -> tuple[Any, Any]:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.cttz(given[0], ir.IntType(1)(1))

    return types.int64(types.uint64), generate


def _fetch_nothing(array: np.ndarray, row: int) -> None:
    pass


def _count_zeros(number: np.uint64) -> int:
    return (int(number) & -int(number)).bit_length() - 1


PLAIN = getattr(config, "DISABLE_JIT")  # noqa: B009 - numba sets it where no type checker sees it
fetch_soon: Any = _fetch_nothing if PLAIN else intrinsic(_fetch)
zeros_below: Any = _count_zeros if PLAIN else intrinsic(_zeros)
