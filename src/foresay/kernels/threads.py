"""Compiled loops on several threads: they hold no lock of Python's while they run."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any


def in_threads(call: Callable[..., None], given: tuple[Any, ...], rows: int, threads: int, few: int = 64) -> None:
    """Calls with a first row and an end, every row once; `few` rows are worth a thread."""
    number = min(threads, max(rows // few, 1))
    if number == 1:
        call(*given, 0, rows)
        return
    edges = [rows * part // number for part in range(number + 1)]
    list(_pool(number).map(lambda low, high: call(*given, low, high), edges[:-1], edges[1:]))


def in_turns(call: Callable[..., None], given: tuple[Any, ...], threads: int) -> None:
    """Calls as each of the owners."""
    if threads == 1:
        call(*given, 0, 1)
        return
    list(_pool(threads).map(lambda owner: call(*given, owner, threads), range(threads)))


@cache
def _pool(number: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(number)
