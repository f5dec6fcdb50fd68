"""Nearest rows: against sorting everything, in blocks of any size, ties in row order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from foresay.vectors import nearest as module
from foresay.vectors.nearest import largest, nearest, unit_rows


def test_unit_rows() -> None:
    found = unit_rows(np.array([[3, 4], [0, 0], [1e-30, 0], [3e38, 3e38]], np.float32))
    assert found.dtype == np.float32
    assert found.tolist() == pytest.approx(np.array([[0.6, 0.8], [0, 0], [1, 0], [0.5**0.5, 0.5**0.5]]))


@given(
    arrays.arrays(np.float32, st.tuples(st.integers(1, 4), st.integers(1, 12)), elements=st.integers(0, 3)),
    st.integers(1, 14),
)
def test_largest_is_a_stable_sort(scores: np.ndarray, number: int) -> None:
    assert largest(scores, number).tolist() == np.argsort(-scores, axis=1, kind="stable")[:, :number].tolist()


@pytest.mark.parametrize("block", [1, 7, 50, 1 << 24])
def test_blocks_change_nothing(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(3)
    unit = unit_rows(draw.normal(size=(41, 5)))
    unit[30] = unit[11] = unit[2]
    questions = unit[[2, 7, 40]]
    cosines = questions.astype(np.float64) @ unit.T.astype(np.float64)
    monkeypatch.setattr(module, "BLOCK", block)
    rows, found = nearest(unit, questions, 6)
    assert rows[0, :3].tolist() == [2, 11, 30]
    for one, row, cosine in zip(cosines, rows, found, strict=True):
        assert np.sort(one)[::-1][:6].tolist() == pytest.approx(cosine.tolist(), abs=1e-6)
        assert one[row].tolist() == pytest.approx(cosine.tolist(), abs=1e-6)
    assert nearest(unit, questions, 99)[0].shape == (3, 41)
    np.testing.assert_allclose(unit_rows(7 * unit), unit, atol=1e-6)
