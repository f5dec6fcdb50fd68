"""Inputs against targets, each with each: scores, loss and gradients.

    s_jk = x_j . u_k        q_jk = sigmoid(y_k s_jk)        loss = - sum log q_jk
    g_jk = rate y_k (1 - q_jk)        dx_j = sum_k g_jk u_k        du_k = sum_j g_jk x_j

y_k is 1 for what was there, -1 for what was drawn, 0 for a target to leave out. All products are of the rows as they
were before the block. Targets go in threes, so that an input that is in the fastest memory is used three times; their
number is a multiple of 3 (fill up with y = 0).
"""

from __future__ import annotations

import numpy as np

from foresay.kernels.word_vectors.compiled import inner, push_three, score_three, weigh_sixteen
from foresay.kernels.word_vectors.plan import Targets

LN2 = float(np.log(2.0))
ZERO, SOME = np.float32(0.0), 16


@inner
def weigh(scores: np.ndarray, signs: np.ndarray, size: int, rate: float) -> float:
    """Scores become g; the loss. What is left out has q = 1/2, which is taken off again."""
    loss, left_out = 0.0, 0
    end = -(-size // SOME) * SOME
    for p in range(size, end):
        scores[p], signs[p] = ZERO, ZERO
    for begin in range(0, end, SOME):
        loss -= np.log(weigh_sixteen(scores, signs, begin, rate))
    for p in range(end):
        left_out += signs[p] == ZERO
    return loss - left_out * LN2


@inner
def score(
    x: np.ndarray, inputs: np.ndarray, count: int, table: np.ndarray, targets: Targets, first: int, size: int,
    scores: np.ndarray, to: int,
) -> None:  # fmt: skip
    """`count` rows of x against `size` targets from `first` on, into scores[to:]."""
    for k in range(0, size, 3):
        a, b, c = targets.rows[first + k], targets.rows[first + k + 1], targets.rows[first + k + 2]
        for j in range(0, count, 2):
            other = min(j + 1, count - 1)
            score_three(x, inputs[j], inputs[other], table, a, b, c, scores, to + j * size + k, to + other * size + k)


@inner
def give_signs(targets: Targets, first: int, size: int, count: int, signs: np.ndarray) -> None:
    """y of every score."""
    for j in range(count):
        for k in range(size):
            signs[j * size + k] = targets.signs[first + k]


@inner
def push(
    x: np.ndarray, dx: np.ndarray, inputs: np.ndarray, count: int, table: np.ndarray, targets: Targets, first: int,
    size: int, scores: np.ndarray, du: np.ndarray, to: int,
) -> None:  # fmt: skip
    """Adds to dx, fills du from row `to` on; the scores are g by now."""
    for k in range(0, size, 3):
        a, b, c = targets.rows[first + k], targets.rows[first + k + 1], targets.rows[first + k + 2]
        push_three(x, dx, inputs, count, table, a, b, c, scores, k, size, du, to + k)


@inner
def set_against(
    x: np.ndarray, dx: np.ndarray, inputs: np.ndarray, count: int, table: np.ndarray, targets: Targets, first: int,
    size: int, du: np.ndarray, to: int, scores: np.ndarray, signs: np.ndarray, rate: float,
) -> float:  # fmt: skip
    """`count` rows of x against `size` targets from `first` on: the loss; adds to dx, fills du from row `to` on."""
    score(x, inputs, count, table, targets, first, size, scores, 0)
    give_signs(targets, first, size, count, signs)
    loss = weigh(scores, signs, count * size, rate)
    push(x, dx, inputs, count, table, targets, first, size, scores, du, to)
    return loss
