"""`forecast`, and `score`, `draw` and `eval` on runs of series: what they write, and what they refuse."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foresay.cli.forecasting import number_text
from foresay.data.midi import read_roll
from foresay.loading import load
from tests.tides import TRAIN, train_small


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_small(tmp_path_factory.mktemp("tides")).folder


@pytest.fixture
def table(folder: Path) -> Path:
    return folder.parent / "in" / "2.csv"


def test_a_table_of_quantiles(folder: Path, table: Path, call: Any) -> None:
    run: Any = load(folder, "cpu")
    found = run.forecast(table, steps=2, number=30, seed=4)
    shown = call("forecast", folder, table, "--steps", 2, "--paths", 30, "--seed", 4, "--quantile", 0.25).out
    head, *lines = csv.reader(io.StringIO(shown))
    assert head == ["series", "step", "column", "mean", "0.25"]
    expected = [
        [str(table), str(step + 1), name, found.mean[0, step, at], found.quantile(0.25)[0, step, at]]
        for step in range(2)
        for at, name in enumerate(("height", "high"))
    ]
    for line, one in zip(lines, expected, strict=True):
        assert line[:3] == one[:3] and [float(value) for value in line[3:]] == pytest.approx(one[3:], rel=1e-7)
    about = json.loads(call("forecast", folder, table, "--steps", 2, "--paths", 30, "--seed", 4, "--json").out)
    assert list(about["series"][0]["quantiles"]) == ["0.1", "0.5", "0.9"]
    assert np.allclose(about["series"][0]["mean"], found.mean[0])


@pytest.mark.parametrize(
    ("value", "text"),
    [(12345678, "12345678"), (0.1, "0.1"), (1234567.25, "1234567.2"), (-3.0, "-3"), (1e30, "1e+30"), (0, "0")],
)
def test_numbers_are_told_from_all_others(value: float, text: str) -> None:
    assert number_text(value) == text and np.float32(text) == np.float32(value)


def test_files(folder: Path, table: Path, call: Any) -> None:
    words = ("forecast", folder, table, "--steps", 3, "--paths", 20)
    called = call(*words, "--out", "a.csv", "--picture", "a.png")
    assert called.code == 0 and called.out == "" and called.error == "a.png is written\na.csv is written\n"
    assert Path("a.csv").read_text("utf-8") == call(*words).out and Path("a.png").stat().st_size > 10_000
    assert call.refused(*words, "--out", "a.csv").startswith("a.csv exists; allowed: a new place")
    assert call(*words, "--out", "a.csv", "--force").code == 0
    assert call.refused(*words, "--out", "a.txt") == "a.txt; allowed: a name that ends in .csv"
    assert call.refused(*words, "--picture", "a.jpg") == "a.jpg; allowed: a name that ends in .png"


def test_refusals(folder: Path, table: Path, call: Any, trained: Path) -> None:
    assert "is of no series; allowed: a run of task series" in call.refused("forecast", trained)
    assert call.refused("forecast", folder, table, "--quantile", 1.5).startswith("quantile=1.5; allowed: a number > 0")
    far = call.refused("forecast", folder, table, "--steps", 10**8)
    assert far.startswith("steps=100,000,000 of 200 paths of 2 numbers are 40,000,000,000 numbers; allowed: 67,108,864")
    assert (
        "lower the steps" in call.refused("draw", folder, "--steps", 10**8, "--out", "far") and not Path("far").exists()
    )
    assert "steps=0" in call.refused("forecast", folder, table, "--steps", 0)
    assert "is no file" in call.refused("forecast", folder, "none.csv")
    assert "knows no texts" in call.refused("generate", folder)


def test_scores(folder: Path, table: Path, call: Any) -> None:
    run: Any = load(folder, "cpu")
    (nats,) = run.nats(table)
    assert call("score", folder, table).out == f"{nats.mean():.4f}\t{table}\n"
    lines = call("score", folder, table, "--tokens").out.splitlines()
    assert len(lines) == 41 and lines[6].split() == [f"{nats[5]:.4f}", "6", "nan", "1"]
    found = json.loads(call("score", folder, table, "--tokens", "--json").out)
    assert found["steps"] == pytest.approx(nats.tolist()) and found["series"] == str(table)


def test_draws(folder: Path, table: Path, call: Any) -> None:
    run: Any = load(folder, "cpu")
    assert call("draw", folder, "--number", 2, "--steps", 5, "--seed", 3, "--out", "out").error == "out is written\n"
    drawn = run.draw(2, steps=5, seed=3)
    for number in (1, 2):
        head, *rows = csv.reader(Path(f"out/0{number}.csv").read_text("utf-8").splitlines())
        assert head == ["height", "high"] and np.allclose(np.array(rows, float), drawn[number - 1], rtol=1e-7)
    found = json.loads(call("draw", folder, table, "--number", 1, "--steps", 2, "--out", "more", "--json").out)
    assert found == [{"number": 1, "file": "more/01.csv"}]
    assert len(Path("more/01.csv").read_text("utf-8").splitlines()) == 1 + 40 + 2
    assert call.refused("draw", folder, "--out", "out").startswith("out exists")
    assert call.refused("draw", folder, "--out", "a.png") == "--out a.png; allowed: the name of a folder"
    assert "--label is for pictures and sounds" in call.refused("draw", folder, "--label", "x", "--out", "b")


def test_eval(folder: Path, call: Any) -> None:
    shown = call("eval", folder).out
    run: Any = load(folder, "cpu")
    found = run.evaluate()
    assert f"nats per step  {found.loss:.4f}" in shown and f"CRPS           {found.rolled.crps:.4g}" in shown
    assert json.loads(call("eval", folder, "--json").out) == found.as_dict()


def test_music(tmp_path: Path, call: Any) -> None:
    """Drawn as MIDI that reads as the same keys, with a picture."""
    batches = {"kind": "series", "rows": 16, "length": 32}
    more = {"data": {"kind": "music", "train": "builtin:chords"}, "train": TRAIN | {"steps": 2, "batches": batches}}
    run = train_small(tmp_path, **more, output="bernoulli")
    words = ("--number", 2, "--steps", 6, "--out", "out")
    assert call("draw", run.folder, *words).code == 0
    for number, roll in enumerate(run.draw(2, steps=6), 1):
        last = int(np.flatnonzero(roll.any(1)).max()) + 1
        assert np.array_equal(read_roll(Path(f"out/0{number}.mid"), 1)[0], roll[:last])
    assert Path("out/rolls.png").stat().st_size > 5_000
    assert "F1 of ones" in call("eval", run.folder).out
