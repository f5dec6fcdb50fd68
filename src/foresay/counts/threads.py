"""Rows shared out among threads: the compiled loops let go of Python's lock, so plain threads are enough."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

FEW = 64  # rows of a thread, at least: to begin one takes longer than to walk that many
MANY = 512  # rows of a call, at most: a thread that has less to do takes the next


def threads() -> int:
    """As many as torch would take."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    return int(given) if given.isdecimal() and int(given) else os.cpu_count() or 1


def in_parts(call: Callable[[int, int], object], rows: int) -> None:
    """Calls with a first row and an end, as often as needed on as many threads as there are; every row once."""
    together = min(threads(), rows // FEW)
    parts = max(together, -(-rows // MANY))
    edges = [rows * part // max(parts, 1) for part in range(parts + 1)]
    if together < 2:
        for low, high in itertools.pairwise(edges):
            call(low, high)
        return
    with ThreadPoolExecutor(together) as pool:
        list(pool.map(call, edges[:-1], edges[1:]))
