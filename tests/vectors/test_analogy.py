"""Analogies: both formulas by hand, many questions at once against one at a time."""

from __future__ import annotations

import numpy as np
import pytest

from foresay.errors import UserError
from foresay.vectors import analogy
from foresay.vectors.analogy import Method, answers, check_method, scores
from foresay.vectors.nearest import unit_rows

UNIT = unit_rows(np.random.default_rng(5).normal(size=(60, 4)))


def by_hand(a: int, b: int, c: int, method: Method) -> np.ndarray:
    cos = {
        name: UNIT.astype(np.float64) @ UNIT[row].astype(np.float64) for name, row in zip("abc", (a, b, c), strict=True)
    }
    if method == "add":
        return cos["b"] - cos["a"] + cos["c"]
    return (1 + cos["b"]) / 2 * (1 + cos["c"]) / 2 / ((1 + cos["a"]) / 2 + 0.001)


def test_scores_by_hand() -> None:
    unit = np.array([[1, 0], [0, 1], [-1, 0]], np.float32)
    question = np.array([[1, 0], [0, 1], [0, 1]], np.float32)  # b - a + c = (-1, 2), of length sqrt 5
    assert scores(unit, question, "add").tolist() == pytest.approx([-1 / 5**0.5, 2 / 5**0.5, 1 / 5**0.5])
    assert scores(unit, question, "multiply").tolist() == pytest.approx([0.25 / 1.001, 1 / 0.501, 0.25 / 0.001])


@pytest.mark.parametrize("method", ["add", "multiply"])
def test_one_question(method: Method) -> None:
    found, expected = scores(UNIT, UNIT[[3, 9, 27]], method), by_hand(3, 9, 27, method)
    if method == "add":
        expected = expected / np.linalg.norm(UNIT[9] - UNIT[3] + UNIT[27])
    assert found.tolist() == pytest.approx(expected.tolist(), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("method", ["add", "multiply"])
@pytest.mark.parametrize("size", [(1, 1), (7, 5), (4096, 32)])
def test_many_questions(method: Method, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analogy, "COLUMNS", size[0])
    monkeypatch.setattr(analogy, "ROWS", size[1])
    questions = np.random.default_rng(6).integers(0, len(UNIT), (150, 3))
    found = answers(UNIT, questions, method)
    for (a, b, c), row in zip(questions.tolist(), found.tolist(), strict=True):
        expected = by_hand(a, b, c, method)
        expected[[a, b, c]] = -np.inf
        assert row not in (a, b, c) and expected[row] == pytest.approx(expected.max(), rel=1e-5)


def test_a_wrong_method() -> None:
    with pytest.raises(UserError, match="method='multply'; allowed: add, multiply; did you mean 'multiply'"):
        check_method("multply")
