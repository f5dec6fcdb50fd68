"""What vector.py has, as Python: where numba's compiler is off, and to test against."""

from __future__ import annotations

import threading
import time

import numpy as np

FAR = 40.0


def score_three(
    x: np.ndarray, one: int, two: int, table: np.ndarray, a: int, b: int, c: int, scores: np.ndarray, to: int, too: int
) -> None:
    scores[to : to + 3] = table[[a, b, c]] @ x[one]
    scores[too : too + 3] = table[[a, b, c]] @ x[two]


def weigh_sixteen(scores: np.ndarray, signs: np.ndarray, begin: int, rate: float) -> float:
    s, y = scores[begin : begin + 16], signs[begin : begin + 16]
    e = np.exp(np.clip(-y * s, -FAR, FAR))
    q = 1 / (1 + e)
    scores[begin : begin + 16] = rate * y * e * q
    return float(q.astype(np.float64).prod())


def push_three(
    x: np.ndarray, dx: np.ndarray, inputs: np.ndarray, count: int, table: np.ndarray, a: int, b: int, c: int,
    scores: np.ndarray, begin: int, step: int, du: np.ndarray, to: int,
) -> None:  # fmt: skip
    g = np.array([scores[begin + j * step : begin + j * step + 3] for j in range(count)])
    rows = inputs[:count]
    dx[rows] += g @ table[[a, b, c]]  # no input stands twice
    du[to : to + 3] = g.T @ x[rows]


def ask_for(table: np.ndarray, row: int) -> None:
    """Python has no use for it."""


def add_row(table: np.ndarray, row: int, change: np.ndarray, at: int) -> None:
    table[row] += change[at]


def arrive(gate: np.ndarray) -> None:
    with _LOCK:
        gate[0] += 1


def arrived(gate: np.ndarray) -> int:
    return gate[0]


def let_others_run() -> None:
    time.sleep(0)


_LOCK = threading.Lock()
