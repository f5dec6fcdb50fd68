"""What is chosen for series and music when nothing is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foresay import recipe as recipes
from foresay.train.choose import Chosen, choose_for
from foresay.train.choose_series import season_of, wanders


def chosen(place: object, *words: str, device: str = "cpu") -> Chosen:
    return choose_for(str(place), words, device, 1.0)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("place", ["builtin:sunspots", "builtin:seasons", "builtin:chords"])
def test_every_choice_is_a_whole_recipe_with_reasons(place: str, device: str) -> None:
    made = chosen(place, device=device)
    checked = recipes.complete(recipes.read(made.recipe)).as_dict()
    assert checked["data"]["train"] == place and checked["task"] == "series"
    assert checked["train"]["batches"]["kind"] == "series" and checked["tokens"]["kind"] == "numbers"
    assert made.holding(made.recipe) == list(made.reasons.values()) and len(made.reasons) >= 2
    assert f"LSTM {checked['encoder']['size']} wide" in made.reasons["encoder"]


def test_the_season_of_made_series_is_twelve_months() -> None:
    made = chosen("builtin:seasons")
    assert (made.recipe["season"], made.recipe["horizon"]) == (12, 12) and made.recipe["relative"] is True
    assert made.reasons["season"].startswith("a season of 12 steps")


def test_sunspots_have_one_of_about_eleven_years() -> None:
    assert chosen("builtin:sunspots").recipe["season"] in (10, 11)


def test_ones_get_a_bernoulli_output() -> None:
    assert chosen("builtin:chords").recipe["output"] == {"kind": "bernoulli", "mixtures": 8}


def test_settings_go_over_what_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("day,a,b\n" + "".join(f"2020-01-{n + 1:02d},{n % 7},{n * n % 5}.5\n" for n in range(28)), "utf-8")
    made = chosen(path, "data.columns=[b]")
    assert made.recipe["data"]["read"] == {"columns": ["b"]}
    assert made.recipe["horizon"] <= 7


def waves(season: int, steps: int = 200, noise: float = 0.3, slope: float = 0.0) -> np.ndarray:
    t = np.arange(steps)
    draw = np.random.default_rng(1)
    return (np.sin(2 * np.pi * t / season) + noise * draw.normal(size=steps) + slope * t)[:, None]


@pytest.mark.parametrize("season", [4, 7, 24, 52])
def test_a_season_is_found_under_noise_and_a_trend(season: int) -> None:
    assert season_of([waves(season, slope=0.5)]) == season
    gap: Any = waves(season)
    gap[5:9] = np.nan
    assert abs(season_of([gap, waves(season)]) - season) <= 1


def test_none_where_there_is_none() -> None:
    draw = np.random.default_rng(1)
    assert season_of([draw.normal(size=(300, 2))]) == 1
    assert season_of([np.cumsum(draw.normal(size=(300, 1)), 0)]) == 1
    assert season_of([np.ones((5, 1))]) == 1 and season_of([np.ones((50, 1))]) == 1


def test_which_wander() -> None:
    draw = np.random.default_rng(1)
    noise = draw.normal(size=(300, 1))
    assert wanders([np.cumsum(noise, 0)]) and not wanders([noise]) and not wanders([np.ones((9, 1))])
