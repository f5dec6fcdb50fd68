"""The loops of path_loss, compiled by numba when they are first called; what they compute stands in paths.py.

Without numba's compiler (NUMBA_DISABLE_JIT=1) they run as the plain Python they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


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
