"""The loops of path_loss, compiled by numba when they are first called; what they compute stands in paths.py.

Without numba's compiler (NUMBA_DISABLE_JIT=1) they run as the plain Python they are.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from numba import njit

FEW = 64  # rows that a thread is worth


@njit(cache=True, nogil=True, fastmath=True)
def find(
    h: np.ndarray, w: np.ndarray, b: np.ndarray, ways: Any, ids: np.ndarray, begins: np.ndarray, part: float,
    losses: np.ndarray, gradients: np.ndarray, dh: np.ndarray, low: int, high: int,
) -> None:  # fmt: skip
    """Rows low..high: their losses, the gradient of each node's score, and dh."""
    first, nodes, signs = ways
    for row in range(low, high):
        loss, at = 0.0, begins[row]
        dh[row] = np.float32(0.0)
        for place in range(first[ids[row]], first[ids[row] + 1]):
            node, sign = nodes[place], signs[place]
            score = b[node]
            for d in range(h.shape[1]):
                score += h[row, d] * w[node, d]
            turned = sign * score
            power = np.exp(-abs(turned))
            loss += np.log1p(power) + max(-turned, np.float32(0.0))
            wrong = (power if turned > 0 else np.float32(1.0)) / (np.float32(1.0) + power)  # sigmoid(-turned)
            g = np.float32(-sign * wrong * part)
            gradients[at] = g
            at += 1
            for d in range(h.shape[1]):
                dh[row, d] += g * w[node, d]
        losses[row] = loss


@njit(cache=True, nogil=True, fastmath=True)
def add(
    h: np.ndarray, ways: Any, ids: np.ndarray, begins: np.ndarray, gradients: np.ndarray, dw: np.ndarray,
    db: np.ndarray, owner: int, owners: int,
) -> None:  # fmt: skip
    """Adds to the nodes of one owner, in the order of the rows."""
    first, nodes, _ = ways
    for row in range(len(ids)):
        at = begins[row]
        for place in range(first[ids[row]], first[ids[row] + 1]):
            node = nodes[place]
            if node % owners == owner:
                g = gradients[at]
                db[node] += g
                for d in range(h.shape[1]):
                    dw[node, d] += g * h[row, d]
            at += 1


@cache
def _pool(number: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(number)


def in_threads(call: Callable[..., None], given: tuple[Any, ...], rows: int, threads: int) -> None:
    """Calls with a first row and an end, every row once."""
    number = min(threads, max(rows // FEW, 1))
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
