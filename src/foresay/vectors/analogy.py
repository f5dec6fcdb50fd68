"""a is to b as c is to ?: by adding cosines (3CosAdd) or multiplying them (3CosMul, Levy and Goldberg 2014).

    add:       argmax_x  cos(x, b) - cos(x, a) + cos(x, c)
    multiply:  argmax_x  cos'(x, b) cos'(x, c) / (cos'(x, a) + 0.001),    cos' = (1 + cos) / 2

x is never a, b or c. Many questions share few words: the cosines of every row with the different words are one product,
and the questions only add or multiply them.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from foresay.counts.threads import in_parts
from foresay.errors import UserError, nearest

Method = Literal["add", "multiply"]
EPSILON = np.float32(0.001)
COLUMNS, ROWS = 4096, 32  # scores that a thread holds at a time: they stay in its cache


def check_method(method: str) -> None:
    allowed = get_args(Method)
    if method not in allowed:
        raise UserError(f"method={method!r}; allowed: {', '.join(allowed)}{nearest(str(method), allowed)}")


def scores(unit: np.ndarray, question: np.ndarray, method: Method) -> np.ndarray:
    """The score (V,) of every row as an answer; the question is the unit vectors of a, b and c (3, D).

    Of `add` it is the cosine with b - a + c, which has the same order.
    """
    if method == "add":
        a, b, c = question.astype(np.float64)
        target = b - a + c
        return unit @ (target / (np.linalg.norm(target) or 1)).astype(np.float32)
    above, below = _terms((unit @ question.T).T, method)
    return above[1] * above[2] * below[0]


def answers(unit: np.ndarray, questions: np.ndarray, method: Method) -> np.ndarray:
    """The row that answers each question (Q, 3), rows of a, b and c -> (Q,); ties in row order."""
    words, places = np.unique(questions, return_inverse=True)
    places = places.reshape(questions.shape)
    asked = np.ascontiguousarray(unit[words])
    best, found = np.full(len(questions), -np.inf, np.float32), np.zeros(len(questions), np.int64)
    for low in range(0, len(unit), COLUMNS):
        above, below = _terms(asked @ unit[low : low + COLUMNS].T, method)

        def look(first: int, end: int, low: int = low, above: np.ndarray = above, below: np.ndarray = below) -> None:
            for row in range(first, end, ROWS):
                here = slice(row, min(row + ROWS, end))
                _better(above, below, places[here], questions[here] - low, low, best[here], found[here], method)

        in_parts(look, len(questions))
    return found


def _terms(cosines: np.ndarray, method: Method) -> tuple[np.ndarray, np.ndarray]:
    """What b and c contribute to a score, and what a does."""
    if method == "add":
        return cosines, cosines
    shifted = (cosines + 1) / 2
    return shifted, 1 / (shifted + EPSILON)


def _better(
    above: np.ndarray,
    below: np.ndarray,
    places: np.ndarray,
    columns: np.ndarray,
    low: int,
    best: np.ndarray,
    found: np.ndarray,
    method: Method,
) -> None:
    """Looks for better answers to a few questions among the rows from `low` on."""
    score = above[places[:, 1]]
    if method == "add":
        score -= below[places[:, 0]]
        score += above[places[:, 2]]
    else:
        score *= below[places[:, 0]]
        score *= above[places[:, 2]]
    question, which = np.nonzero((columns >= 0) & (columns < score.shape[1]))
    score[question, columns[question, which]] = -np.inf
    at = score.argmax(1)
    value = score[np.arange(len(at)), at]
    better = value > best
    best[better], found[better] = value[better], at[better] + low
