"""The switches between ways to run: `FORESAY_PLAIN=1` runs the plain twins, `as_graph` what suits a CUDA graph, and
`as_file` what can be written down as a graph of other tools: the plain twins, with loops over time rolled up."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_in_graph = ContextVar("in_graph", default=False)
_in_file = ContextVar("in_file", default=False)


def plain() -> bool:
    """True when the environment asks for the plain twins; read at each call, so a test may turn it."""
    return _in_file.get() or os.environ.get("FORESAY_PLAIN", "0") not in ("", "0")


def compiles() -> bool:
    """False when the environment has switched numba's compiler off: what is no Python without it cannot run."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


@contextmanager
def as_graph() -> Iterator[None]:
    """What runs in here becomes a CUDA graph, or rehearses one: it costs nothing to launch many small kernels."""
    before = _in_graph.set(True)
    try:
        yield
    finally:
        _in_graph.reset(before)


def in_graph() -> bool:
    return _in_graph.get()


@contextmanager
def as_file() -> Iterator[None]:
    """What runs in here is noted, to be written into a file: batch and time have no fixed length."""
    before = _in_file.set(True)
    try:
        yield
    finally:
        _in_file.reset(before)


def in_file() -> bool:
    return _in_file.get()
