"""The claim on history: its rule, its laws, one that knows them, what counts find, and a run of few updates."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from foresay.study.claims import history as claim
from foresay.study.claims.both_ways_text import RealText, Row
from foresay.study.claims.claim import Figure
from foresay.study.claims.history import (
    BEST,
    BEST_ALL,
    BIDIRECTIONAL,
    CAUSAL,
    FILTERED,
    SMOOTHED,
    WORDS,
    Size,
    draw,
    frames_right,
    judge,
    tags_by_counts,
)
from foresay.study.claims.history_frames import (
    CORNERS,
    LAWS,
    NOISE,
    ONE,
    STATES,
    SURE,
    TWO,
    knowing,
    made,
    of_last,
)
from foresay.text.tokens import SPECIALS


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("history", "last", "quick", "verdict"),
    [
        ([(10, 20), (6, 9)], [(-1, 1), (-1, 1.9)], True, "holds"),
        ([(10, 20), (4, 9)], [(-1, 1), (-1, 1)], False, "not decided at this size"),
        ([(10, 20), (6, 9)], [(-1, 3), (-1, 1)], False, "not decided at this size"),
        ([(10, 20), (1, 4)], [(-1, 1), (-1, 1)], False, "does not hold"),
        ([(10, 20), (1, 4)], [(-1, 1), (-1, 1)], True, "not decided at this size"),
    ],
)
def test_the_rule(history, last, quick, verdict):
    assert judge([figure(*one) for one in history], [figure(*one) for one in last], quick) == verdict


@pytest.mark.parametrize("law", [TWO, ONE])
def test_states_follow_the_law_and_frames_their_states(law):
    frames, states = made(law, np.random.default_rng(1), 2000, 40)
    assert frames.shape == (2000, 40, 2) and frames.dtype == np.float32
    follows = LAWS[law](states[:, :-2], states[:, 1:-1])
    share = (states[:, 2:] == follows).mean()
    assert share == pytest.approx(SURE + (1 - SURE) / STATES, abs=0.01)
    second = (states[:, 1] == LAWS[law](0, states[:, 0])).mean()  # of the first two, one back alone says something
    assert second == pytest.approx(share if law == ONE else 1 / STATES, abs=0.07)
    apart = frames - CORNERS[states]
    assert apart.std() == pytest.approx(NOISE, abs=0.01) and abs(apart.mean()) < 0.01
    moved = np.zeros((STATES, STATES))
    np.add.at(moved, (states[:, 2:-1].ravel(), states[:, 3:].ravel()), 1)
    moved /= moved.sum(1, keepdims=True)
    if law == TWO:  # by the last state alone nothing is known
        np.testing.assert_allclose(moved, 1 / STATES, atol=0.03)
    else:
        assert moved.max(1).min() > 0.9


def test_one_who_knows_the_law_is_bayes():
    """P(s_3 | x_1 .. x_3) by the sum over all states of three frames."""
    frames, _ = made(TWO, np.random.default_rng(2), 1, 3)
    chain = knowing(TWO)
    np.testing.assert_allclose(chain.moves.sum(1), 1.0)
    density = np.exp(-((frames[0][:, None] - CORNERS) ** 2).sum(-1) / (2 * NOISE**2))
    sums = np.zeros(STATES)
    for path in itertools.product(range(STATES), repeat=3):
        share = (1 - SURE) / STATES + SURE * (path[2] == LAWS[TWO](*path[:2]))
        sums[path[2]] += share * np.prod(density[range(3), path])
    filtered, _ = chain.posteriors(frames[0])
    np.testing.assert_allclose(of_last(filtered)[2], sums / sums.sum(), rtol=1e-6)


def test_counts_know_no_more_than_a_frame_of_what_is_two_back():
    found = frames_right(TWO, 1, Size(updates=1, counted=300, asked=60, width=8))
    assert list(found) == [FILTERED, CAUSAL, BEST, SMOOTHED, BIDIRECTIONAL, BEST_ALL]
    assert abs(found[FILTERED] - found[SMOOTHED]) < 3 and 60 < found[FILTERED] < 72
    assert found[BEST] > found[FILTERED] + 10 and found[BEST_ALL] > found[BEST] + 5
    other = frames_right(ONE, 1, Size(updates=1, counted=300, asked=60, width=8))
    assert abs(other[FILTERED] - other[BEST]) < 2 and other[SMOOTHED] > other[FILTERED] + 3


def test_a_network_learns_what_is_two_back():
    found = frames_right(TWO, 2, Size(updates=100, counted=100, asked=100, width=48))
    assert found[CAUSAL] > found[FILTERED] + 2


def test_tags_by_counts():
    """Word 0 is always A, and B follows A; word 1 may be either: what precedes tells."""
    zero, one = len(SPECIALS), len(SPECIALS) + 1
    rows = [Row(np.array([zero, one]), np.array([0, 1]), np.ones(2, bool))] * 5
    rows += [Row(np.array([one]), np.array([0]), np.ones(1, bool))] * 5
    text = RealText(one + 1, ("A", "B"), rows, rows)
    assert tags_by_counts(text, 0.01) == (100.0, 100.0)


def test_the_picture_has_every_reader():
    two = {name: [50.0, 52.0] for name in (FILTERED, CAUSAL, BEST, SMOOTHED, BIDIRECTIONAL, BEST_ALL)}
    words = {name: [80.0, 82.0] for name in (FILTERED, CAUSAL, SMOOTHED, BIDIRECTIONAL)}
    past, sides = draw({TWO: two, ONE: two, WORDS: words}).axes
    for axes, places in ((past, 8), (sides, 8)):
        assert [text.get_text() for text in axes.get_legend().get_texts()] == ["HMM", "LSTM", "who knows the law"]
        assert len(axes.patches) == places  # of real text nobody knows the law
    assert [tick.get_text() for tick in past.get_xticklabels()] == [TWO, ONE, WORDS]
    assert past.get_xlabel() == "what the state depends on" and past.get_ylabel() == "states right, %"


def test_a_run_of_few_updates(monkeypatch):
    monkeypatch.setattr(claim, "QUICK", Size(updates=2, counted=50, asked=10, width=8))
    found = claim.run(True, 1, lambda _: None)
    assert found.verdict in ("holds", "not decided at this size") and found.picture is not None
    assert found.figures[0].name == f"{TWO}: {CAUSAL} less {FILTERED}"
    right = found.details["right, %"]
    assert found.figures[0].value == pytest.approx(np.mean(right[TWO][CAUSAL]) - np.mean(right[TWO][FILTERED]))
