"""Learning for the claims: by the seed alone, and side by side in order."""

from __future__ import annotations

import time

import pytest

from foresay.study.claims.words_learning import PREDICTORS, average_of, learn, seeds_of, side_by_side, vectors_of


def test_vectors_are_by_the_seed_alone(small_texts):
    text, _ = small_texts(1)

    def matrix(seed):
        return vectors_of(learn(text, seed, {"size": 4, "epochs": 2} | PREDICTORS["CBOW"]), text).matrix.tobytes()

    alone = matrix(1)
    assert side_by_side(matrix, [1, 2, 1], lambda done: None) == [alone, matrix(2), alone] and matrix(2) != alone


def test_jobs_keep_their_order_and_tell():
    told: list[float] = []

    def one(job):
        time.sleep(0.05 if job == 0 else 0)
        return 10 * job

    assert side_by_side(one, [0, 1, 2, 3], told.append) == [0, 10, 20, 30] and told == [0.25, 0.5, 0.75, 1]


def test_an_error_in_a_job_comes_out():
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda job: 1 / job, [1, 0, 2], lambda done: None)


def test_other_seeds_for_each_seed():
    assert list(seeds_of(1, True)) == [3, 4, 5] and not {*seeds_of(1, False)} & {*seeds_of(2, False)}


def test_a_mean_by_hand():
    """1 ... 5: 3 -+ 1.963."""
    figure = average_of("a", [1, 2, 3, 4, 5], "s")
    assert (figure.value, figure.low, figure.high) == pytest.approx(
        (3, 1.0371, 4.9629), abs=1e-3
    ) and figure.unit == "s"
