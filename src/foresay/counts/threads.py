"""Rows shared out among threads: the compiled loops let go of Python's lock, so plain threads are enough."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

FEW = 64  # rows of a thread, at least: to begin one takes longer than to walk that many


def threads() -> int:
    """As many as torch would take."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    return int(given) if given.isdecimal() and int(given) else os.cpu_count() or 1


def in_parts(call: Callable[[int, int], object], rows: int) -> None:
    """Calls with a first row and an end for each thread; every row once."""
    parts = min(threads(), rows // FEW)
    if parts < 2:
        call(0, rows)
        return
    edges = [rows * part // parts for part in range(parts + 1)]
    with ThreadPoolExecutor(parts) as pool:
        list(pool.map(call, edges[:-1], edges[1:]))
