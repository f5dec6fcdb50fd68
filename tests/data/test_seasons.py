"""The made series follow their law, whose best forecast is known."""

from __future__ import annotations

import numpy as np
import pytest

from foresay.data.seasons import COUNTS, LEAST, MEMORY, SEASON, STEPS, seasons


def test_parts() -> None:
    found = seasons(3)
    assert {name: len(rows) for name, rows in found.items()} == COUNTS
    assert all(values.shape == (STEPS, 1) for rows in found.values() for values, _ in rows)
    assert {begin for _, begin in found["train"]} == {0} and {begin for _, begin in found["test"]} == {STEPS // 2}
    assert np.array_equal(seasons(3)["train"][0][0], found["train"][0][0])
    assert not np.array_equal(seasons(4)["train"][0][0], found["train"][0][0])


def test_what_is_left_is_noise_of_deviation_one() -> None:
    """Fitted by least squares, trend and season leave e_t; e_t - 0.7 e_(t-1) is normal with deviation 1."""
    months, left = np.arange(STEPS), []
    angle = 2 * np.pi * months / SEASON
    terms = np.stack([np.ones(STEPS), months, np.sin(angle), np.cos(angle)], 1)
    for values, _ in seasons(1)["train"]:
        known, *_ = np.linalg.lstsq(terms, values[:, 0].astype(float), rcond=None)
        noise = values[:, 0] - terms @ known
        left.append(noise[1:] - MEMORY * noise[:-1])
        assert 2 < np.hypot(*known[2:]) < 11
    found = np.concatenate(left)
    assert found.std() == pytest.approx(1, abs=0.03) and abs(np.mean(found**3)) < 0.1
    told = 0.5 * found**2 + 0.5 * np.log(2 * np.pi)
    assert np.mean(told) == pytest.approx(LEAST, abs=0.03)
