"""Addresses as pointers, in compiled loops: what ctypes passes on is whole numbers."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic


def _pointer(kind: Any) -> Any:
    @intrinsic
    def pointer(context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            return builder.inttoptr(given[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind)(types.int64), generate

    return pointer


reals, wholes = _pointer(types.float32), _pointer(types.int64)
