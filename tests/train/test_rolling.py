"""Forecasts measured: CRPS by its definition and by its closed form, MASE and coverage by hand, origins."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import norm

from foresay.data.series_form import SeriesForm
from foresay.data.series_shards import SeriesShards, SeriesWriter
from foresay.train.rolling import MOST, PATHS, crps, errors, naive, origins, rolled

NAN = np.nan


def shards_of(folder: Path, *series: Any) -> SeriesShards:
    """Each is its values and how many of them are for context."""
    SeriesForm(("a",), (0.0,), (1.0,), (-9.0,), (9.0,), (False,), (0.0,)).save(folder)
    with SeriesWriter(folder / "valid", 5) as writer:
        for number, (values, begin) in enumerate(series):
            writer.add(str(number), np.array(values, np.float32)[:, None], begin)
        writer.finish()
    return SeriesShards(folder / "valid")


def test_crps_is_its_definition() -> None:
    draw = np.random.default_rng(1)
    drawn, came = draw.normal(size=(11, 3, 2)), draw.normal(size=(3, 2))
    apart = np.mean([np.abs(drawn[i] - drawn[j]) for i in range(11) for j in range(11) if i != j], 0)
    assert crps(drawn, came) == pytest.approx(np.abs(drawn - came).mean(0) - 0.5 * apart)
    assert crps(drawn[:1], came) == pytest.approx(np.abs(drawn[0] - came))


def test_crps_of_many_draws_is_that_of_the_gaussian() -> None:
    """sigma (z (2 Phi(z) - 1) + 2 phi(z) - 1 / sqrt(pi)), z = (x - mu) / sigma (Gneiting and Raftery 2007)."""
    drawn = np.random.default_rng(2).normal(3, 2, (200_000, 1))
    for x in (3.0, 6.5, -4.0):
        z = (x - 3) / 2
        closed = 2 * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / math.sqrt(math.pi))
        assert crps(drawn, np.array([x]))[0] == pytest.approx(closed, abs=0.02)


def test_the_season_before() -> None:
    history = np.array([[1.0], [2.0], [3.0], [4.0]])
    assert naive(history, 5, 3).ravel().tolist() == [2, 3, 4, 2, 3]
    assert naive(history, 2, 1).ravel().tolist() == [4, 4]
    assert naive(history[:2], 3, 3).ravel().tolist() == [2, 2, 2]  # shorter than a season


def test_mase_by_hand() -> None:
    history = np.array([[0.0, 5], [1, 5], [3, 5], [NAN, 5]])
    came, median = np.array([[4.0, 6], [NAN, 7]]), np.array([[2.0, 6], [9, 9]])
    assert errors(history, came, median, 1) == pytest.approx([2 / 1.5])  # a column that never changed has no measure
    assert errors(history, came, median, 2) == pytest.approx([2 / 3])
    assert errors(history[:2], came, median, 2) == pytest.approx([2 / 1])
    assert errors(history, np.full((2, 2), NAN), median, 1) == []


def test_origins(tmp_path: Path) -> None:
    shards = shards_of(tmp_path, (range(10), 0), (range(9), 6), ([1.0], 0))
    assert origins(shards, 4) == [(0, 1, 4), (0, 5, 4), (0, 9, 1), (1, 6, 3)]
    many = shards_of(tmp_path / "many", *[(range(50), 0)] * 10) if (tmp_path / "many").mkdir() is None else shards
    found = origins(many, 2)
    assert len(found) == MOST == len(set(found)) and {number for number, *_ in found} == set(range(10))


class Walk:
    """x_t = x_(t-1) + e_t, e normal with deviation 1: a model whose forecasts are known."""

    device = "cpu"

    class output:
        width = 1

    def step(self, x: Any, state: Any) -> tuple[Any, Any]:
        return None, {"features": x[:, -1].double()}

    def reorder(self, state: Any, rows: Any) -> Any:
        return {"features": state["features"][rows]}

    def draw(self, state: Any, u: Any, temperature: float) -> Any:
        return state["features"] + torch.special.ndtri(u[:, 1:])


def test_a_random_walk_forecast_by_its_own_law(tmp_path: Path) -> None:
    """After h steps E|X - x| is 2 sqrt(h / pi), X and x normal with variance h; CRPS is half of it, 80 % is covered."""
    draw = np.random.default_rng(3)
    walks = [(np.cumsum(draw.normal(size=60)), 20) for _ in range(40)]
    shards = shards_of(tmp_path, *walks)
    after = lambda history: {"features": torch.from_numpy(history[-1:]).double()}  # noqa: E731
    found = rolled(shards, origins(shards, 4), after, Walk(), season=1)
    expected = np.mean([math.sqrt(h / math.pi) for h in (1, 2, 3, 4)])
    assert (found.horizon, found.origins) == (4, MOST) and PATHS == 100
    assert found.crps == pytest.approx(expected, rel=0.15)
    assert found.naive_crps == pytest.approx(np.mean([math.sqrt(2 * h / math.pi) for h in (1, 2, 3, 4)]), rel=0.15)
    assert found.covered == pytest.approx(0.8, abs=0.08)
    assert found.mase == pytest.approx(found.naive_crps / math.sqrt(2 / math.pi), rel=0.15)
    assert found.as_dict()["covered_80"] == found.covered
