"""The made films follow their law, and their least loss is that of what it leaves open."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from foresay.data.balls import BALL, COUNTS, LEAST, PLACES, SIDE, STEPS, balls


def places(film: np.ndarray) -> list[tuple[int, int]]:
    """Where the ball is in each frame; all of it is there and nothing else."""
    found = []
    for frame in film.reshape(STEPS, SIDE, SIDE):
        rows, columns = np.nonzero(frame)
        assert len(rows) == BALL**2 and np.ptp(rows) == np.ptp(columns) == BALL - 1
        found.append((int(rows.min()), int(columns.min())))
    return found


def test_a_ball_goes_straight_on_and_turns_at_walls() -> None:
    for film, begin in balls(1)["train"]:
        at = places(film)
        assert begin == 0 and len(at) == STEPS
        for axis in (0, 1):
            way = [after[axis] - before[axis] for before, after in pairwise(at)]
            assert set(way) <= {-1, 1}
            turned = [t for t in range(1, len(way)) if way[t] != way[t - 1]]
            assert all(at[t][axis] in (0, PLACES - 1) for t in turned)
            assert {len(at)} == {STEPS} and all(0 <= one[axis] < PLACES for one in at)


def test_parts_are_drawn_by_the_seed() -> None:
    found = balls(2)
    assert {name: len(films) for name, films in found.items()} == COUNTS
    assert not np.array_equal(found["train"][0][0], balls(3)["train"][0][0])
    begun = Counter(places(film)[0] for film, _ in found["train"])
    assert len(begun) > 45 and max(begun.values()) < 25  # of 49, each about eight times


def test_the_least_loss_by_counting_all_films() -> None:
    """Every beginning is as likely: ln of how many there are, less what the first two frames do not tell."""
    told = 0.0
    for row in range(PLACES):
        for column in range(PLACES):
            seconds = Counter()
            for v in (-1, 1):
                for w in (-1, 1):
                    v_, w_ = (-v if not 0 <= row + v < PLACES else v), (-w if not 0 <= column + w < PLACES else w)
                    seconds[row + v_, column + w_] += 1
            told += sum(-n / 4 * math.log(n / 4) for n in seconds.values()) / PLACES**2
    assert (math.log(PLACES**2) + told) / STEPS == pytest.approx(LEAST)
    assert pytest.approx(0.203, abs=5e-4) == LEAST
