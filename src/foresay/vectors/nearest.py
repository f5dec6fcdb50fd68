"""The nearest rows by cosine, exactly: one product for a whole batch of questions, in blocks of bounded size.

unit (V, D) and questions (B, D), rows of length 1 -> rows (B, K) and cosines (B, K), nearest first, ties in row order.
"""

from __future__ import annotations

import numpy as np

BLOCK = 1 << 24  # cosines held at a time


def unit_rows(matrix: np.ndarray) -> np.ndarray:
    """The rows with length 1, float32; a row of zeros stays one."""
    found = np.empty(matrix.shape, np.float32)
    step = max(BLOCK // max(matrix.shape[1], 1), 1)
    for low in range(0, len(matrix), step):
        rows = matrix[low : low + step].astype(np.float64)
        lengths = np.sqrt(np.einsum("vd,vd->v", rows, rows))
        found[low : low + step] = rows / np.where(lengths > 0, lengths, 1)[:, None]
    return found


def nearest(unit: np.ndarray, questions: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """The `number` nearest rows of each question; fewer where there are no more."""
    rows = np.empty((len(questions), 0), np.int64)
    cosines = np.empty((len(questions), 0), np.float32)
    step = max(BLOCK // max(len(questions), 1), 1)
    for low in range(0, len(unit), step):
        found = questions @ unit[low : low + step].T
        at = largest(found, number)
        rows = np.concatenate([rows, at + low], 1)
        cosines = np.concatenate([cosines, np.take_along_axis(found, at, 1)], 1)
        kept = largest(cosines, number)  # earlier rows stand first, so that ties stay in their order
        rows, cosines = np.take_along_axis(rows, kept, 1), np.take_along_axis(cosines, kept, 1)
    return rows, np.clip(cosines, -1, 1)


def largest(scores: np.ndarray, number: int) -> np.ndarray:
    """The columns of the largest scores in each row (B, C) -> (B, K), largest first, ties in column order."""
    columns = scores.shape[1]
    if number >= columns:
        return np.argsort(-scores, axis=1, kind="stable")
    at = np.argpartition(scores, columns - number, axis=1)[:, columns - number :]
    least = np.take_along_axis(scores, at, 1).min(1, keepdims=True)
    for row in np.flatnonzero((scores >= least).sum(1) > number):  # which of those at the edge is left to chance
        tied = np.flatnonzero(scores[row] >= least[row])
        at[row] = tied[np.argsort(-scores[row, tied], kind="stable")[:number]]
    at.sort(axis=1)
    return np.take_along_axis(at, np.argsort(-np.take_along_axis(scores, at, 1), axis=1, kind="stable"), 1)
