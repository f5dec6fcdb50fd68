"""How the loops of n-grams are compiled: when first called, kept on the disk, and run without Python's lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

Row = np.uintp  # an index: of any other number numba asks whether it counts from the end


def loop(function: Callable[..., Any]) -> Any:
    """Compiles a loop that may make arrays."""
    return njit(cache=True, nogil=True)(function)


def lean_loop(function: Callable[..., Any]) -> Any:
    """Compiles a loop that makes no array, so that numba need not count who holds which.

    Where small functions pass arrays on, counting takes longer than the work: looking up a word of WikiText-2 took
    107 ns with it and 33 ns without.
    """
    options: dict[str, Any] = {"cache": True, "nogil": True, "_nrt": False}
    return njit(**options)(function)


def inner(function: Callable[..., Any]) -> Any:
    """Compiles a part of lean loops into each of them: a call hands over seven numbers for every array."""
    options: dict[str, Any] = {"cache": True, "nogil": True, "_nrt": False, "inline": "always"}
    return njit(**options)(function)
