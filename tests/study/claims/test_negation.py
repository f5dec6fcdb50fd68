"""The claim on negation: its rule, and that averaging cannot know order."""

from __future__ import annotations

import numpy as np
import pytest

from foresay.study.claims.claim import Figure
from foresay.study.claims.negation import AVERAGED, READERS, Size, batch_of, draw, judge, learnt


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("averaged", "apart", "verdict"),
    [
        ((48, 55), (30, 50), "holds"),
        ((48, 70), (30, 50), "not decided at this size"),
        ((48, 55), (10, 50), "not decided at this size"),
        ((70, 80), (30, 50), "does not hold"),
        ((48, 55), (-5, 15), "does not hold"),
    ],
)
def test_the_rule(averaged, apart, verdict):
    assert judge(figure(*averaged), figure(*apart)) == verdict


def test_averaging_guesses():
    """Half, within four standard errors of 500 reviews."""
    assert abs(learnt(AVERAGED, 3, Size(steps=30, seeds=1, rows=32)) - 0.5) < 4 * (0.25 / 500) ** 0.5


def test_a_batch():
    batch = batch_of([(np.array([5, 6]), 1), (np.array([7]), 0)])
    assert batch.ids is not None and batch.labels is not None
    assert batch.ids.tolist() == [[5, 6], [7, 0]] and batch.labels.tolist() == [1, 0]


def test_a_picture_has_every_reader():
    picture = draw({name: [50.0, 60.0, 70.0] for name in READERS})
    (axes,) = picture.axes
    assert [one.get_text() for one in axes.get_xticklabels()] == list(READERS)
    assert [bar.get_height() for bar in axes.patches] == [60.0] * 4
