"""The loop of `attend`, compiled by numba when it is first called; what it computes stands in attend.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def look_back(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, where: Any, end: int, window: int, scale: float, y: np.ndarray,
    low: int, high: int,
) -> None:  # fmt: skip
    """Rows low..high."""
    rows, at, begun, position = where
    share, wide = q.shape[1] // k.shape[2], q.shape[2]
    seen, weights = np.empty(end, np.int64), np.empty(end, np.float32)
    for b in range(low, high):
        first, count = max(begun[b], position[b] - window + 1), 0
        for c in range(end):
            if first <= at[b, c] <= position[b]:
                seen[count] = c
                count += 1
        for n in range(q.shape[1]):
            group, best = n // share, np.float32(-np.inf)
            for i in range(count):
                c = seen[i]
                row, score = rows[b, c], np.float32(0.0)
                for d in range(wide):
                    score += q[b, n, d] * k[row, c, group, d]
                weights[i] = np.float32(scale) * score
                best = max(best, weights[i])
            total = np.float32(0.0)
            for i in range(count):
                weights[i] = np.exp(weights[i] - best)
                total += weights[i]
            for d in range(v.shape[3]):
                y[b, n, d] = np.float32(0.0)
            for i in range(count):
                c = seen[i]
                row, weight = rows[b, c], weights[i] / total
                for d in range(v.shape[3]):
                    y[b, n, d] += weight * v[row, c, group, d]
