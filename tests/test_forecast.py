"""Runs on series: forecasts are paths of the model, scores are its own, and what is given is checked."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from foresay.decode.paths import paths
from foresay.errors import UserError
from foresay.forecast import Forecast
from foresay.loading import load
from tests.tides import TIDES, TRAIN, train_small


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_small(tmp_path_factory.mktemp("tides")).folder


@pytest.fixture
def run(folder: Path) -> Any:
    return load(folder, "cpu")


def history(run: Any, steps: int = 12) -> np.ndarray:
    ((_, values), *_) = run.series(run.folder.parent / "in" / "0.csv")
    return values[:steps]


def test_a_forecast_is_made_of_the_models_paths(run: Any) -> None:
    values = history(run)
    found = run.forecast(values, steps=3, number=50, seed=9)
    with torch.inference_mode():
        _, state = run.model.step(torch.from_numpy(values)[None], run.model.begin(1))
        expected = paths(run.model, state, 3, 50, seed=9)
    assert np.array_equal(found.paths, expected.numpy()) and found.columns == ("height", "high")
    assert np.allclose(found.mean, expected.mean(1)) and found.names == ["the array"]
    assert np.allclose(found.quantile(0.9), np.quantile(expected.numpy(), 0.9, axis=1))
    about = found.as_dict((0.25,))
    assert about["series"][0]["quantiles"]["0.25"] == found.quantile(0.25)[0].tolist() and about["paths"] == 50
    assert run.forecast(values).paths.shape == (1, 200, 4, 2)  # its own horizon


def test_forecasts_of_many_series_tell_how_far_they_are(run: Any) -> None:
    told: list[float] = []
    run.forecast(run.folder.parent / "in", steps=2, number=5, tell=told.append)
    assert told == pytest.approx([n / 12 for n in range(1, 13)])


def test_means_of_large_numbers() -> None:
    """In float32 alone 200 of them would be summed to steps of 128."""
    drawn = np.full((1, 200, 1, 1), 12345678.0, np.float32)
    assert Forecast(["x"], ("x",), drawn, []).mean.item() == 12345678.0


def test_files_and_its_own_data(run: Any) -> None:
    place = run.folder.parent / "in"
    found = run.forecast(place, steps=2, number=5)
    assert len(found.names) == 6 and found.paths.shape == (6, 5, 2, 2)
    assert np.array_equal(found.paths[3], run.forecast(place / "3.csv", steps=2, number=5).paths[0])
    own = run.forecast(steps=2, number=5)
    assert np.array_equal(own.paths, found.paths)  # what is held out ends where the files do


def test_only_the_last_steps_of_a_long_history_are_read(run: Any) -> None:
    """As many as a window of training has, with nothing known before them."""
    values = history(run, 40)
    found = run.forecast(values, steps=2, number=4)
    with torch.inference_mode():
        _, state = run.model.step(torch.from_numpy(values[-16:])[None], run.model.amid(1))
        assert np.array_equal(found.paths, paths(run.model, state, 2, 4, seed=1).numpy())
    other = values.copy()
    other[:24] += 5
    assert np.array_equal(run.forecast(other, steps=2, number=4).paths, found.paths)


def test_nats_are_those_of_each_step(run: Any) -> None:
    values = history(run, 15)
    (found,) = run.nats(values)
    state, x = run.model.begin(1), torch.from_numpy(values)[None]
    with torch.inference_mode():
        for t in range(15):
            log_prob, state = run.model.score(x[:, t : t + 1], state=state)
            assert found[t] == pytest.approx(-log_prob.item(), rel=1e-4)
    long = run.nats(history(run, 40))[0]
    assert long.shape == (40,) and np.allclose(long[:15], found, rtol=1e-4)


def test_a_step_unlike_the_others_stands_out(run: Any) -> None:
    values = history(run, 15).copy()
    values[11, 0] += 20
    (found,) = run.nats(values)
    assert found.argmax() == 11 and found[11] > found[:11].max() + 5


def test_draws(run: Any) -> None:
    found = run.draw(3, steps=7, seed=2)
    assert found.shape == (3, 7, 2) and np.array_equal(found, run.draw(3, steps=7, seed=2))
    begun = history(run, 5)
    going_on = run.draw(2, steps=4, begun=begun, seed=2)
    assert going_on.shape == (2, 9, 2) and np.array_equal(going_on[1, :5], begun)
    assert np.array_equal(going_on[:, 5:], run.forecast(begun, steps=4, number=2, seed=2).paths[0])


def test_an_evaluation_has_figures_of_steps_and_of_forecasts(run: Any) -> None:
    found = run.evaluate()
    about = found.as_dict()
    assert (about["horizon"], about["series"], about["of_steps"]) == (4, 6, 24)
    assert about["crps"] > 0 and 0 <= about["covered_80"] <= 1 and about["mase"] > 0
    given = run.evaluate(run.folder.parent / "in")
    assert given.tokens == 240 and math.isfinite(given.loss)
    lines = (run.folder / "README.md").read_text("utf-8")
    assert "CRPS of forecasts over 4 steps" in lines and "forecast.png" in lines and "foresay forecast" in lines
    assert (run.folder / "forecast.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (np.zeros((3, 5)), r"the array is float64 \(3, 5\); allowed: numbers \(T, 2\)"),
        (np.zeros((0, 2)), r"allowed: numbers \(T, 2\)"),
        (np.full((3, 2), np.inf), "the array has infinite numbers; allowed: finite ones, or NaN"),
        (np.array([["a", "b"]]), "allowed: numbers"),
        ("none.csv", "is no file, folder or known"),
    ],
)
def test_what_cannot_be_gone_on_from(run: Any, given: Any, said: str) -> None:
    with pytest.raises(UserError, match=said):
        run.forecast(given)


def test_other_columns_and_settings(run: Any, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("low,high\n1,0\n", "utf-8")
    with pytest.raises(UserError, match="has no column 'height'; allowed: low, high"):
        run.nats(tmp_path / "x.csv")
    (tmp_path / "y.csv").write_text("high,day,height\n1,Monday,11\n0,Tuesday,9\n", "utf-8")
    assert len(run.nats(tmp_path / "y.csv")[0]) == 2  # by their names, in any order
    for name, value in (("steps", 0), ("number", 0), ("temperature", -1), ("seed", "a")):
        with pytest.raises(UserError, match=f"{name}="):
            run.forecast(history(run), **{name: value})
    with pytest.raises(UserError, match=r"quantile=1\.5"):
        run.forecast(history(run), steps=1, number=2).quantile(1.5)
    with pytest.raises(UserError, match="has 6 series; allowed: one to go on from"):
        run.draw(1, begun=run.folder.parent / "in")


def test_what_is_for_texts(run: Any) -> None:
    for name in ("generate", "score", "correct", "search"):
        with pytest.raises(UserError, match="is of series of numbers and knows no texts; use foresay forecast"):
            getattr(run, name)("text")
    with pytest.raises(UserError, match="is for texts; series are read as UTF-8"):
        run.reading(encoding="latin-1")
    assert run.reading(columns=["a"]).columns == ["a"]


def test_music_is_drawn_and_has_no_forecast_figures(tmp_path: Path) -> None:
    music = {"data": {"kind": "music", "train": "builtin:chords"}, "output": "bernoulli"}
    batches = {"kind": "series", "rows": 16, "length": 32}
    run = train_small(tmp_path, **music, train=TRAIN | {"steps": 4, "batches": batches}, season=1)
    drawn = run.draw(2, steps=5)
    assert drawn.shape == (2, 5, 88) and set(np.unique(drawn)) <= {0.0, 1.0}
    found = run.evaluate(split="test")
    assert found.rolled is None and found.f1 is not None and "crps" not in found.as_dict()
    assert (run.folder / "samples.png").exists() and not (run.folder / "forecast.png").exists()
    assert "foresay draw" in (run.folder / "README.md").read_text("utf-8")


@pytest.mark.parametrize("kills", [("7", "save:2", "23")])
def test_killed_and_gone_on_with_gives_the_same_bytes(tmp_path: Path, forks: Any, kills: tuple[str, ...]) -> None:
    from tests.tides import risen
    from tests.train.test_resume import drive

    recipe = TIDES | {"data": {"kind": "series", "train": str(risen(tmp_path / "in"))}}
    drive(forks, recipe, tmp_path / "alone")
    drive(forks, recipe, tmp_path / "killed", *kills)
    alone, killed = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("alone", "killed"))
    assert alone == killed
