"""Runs on sounds: what they draw, score and tell apart, against the model's own numbers sample by sample."""

from __future__ import annotations

import json
import math
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from foresay.data.laws import levels_of
from foresay.errors import UserError
from foresay.loading import load
from foresay.text.levels import FIRST
from foresay.text.tokens import STOP
from tests.hums import RATE, train_small


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A language model for labels."""
    return train_small(tmp_path_factory.mktemp("hums"), condition=4).folder


@pytest.fixture
def run(folder: Path) -> Any:
    return load(folder, "cpu")


def sounds(run: Any, count: int = 3) -> list[np.ndarray]:
    found = [samples for _, samples in run.documents(run.folder.parent / "in")]  # `high` first, by the names
    return [*found[:1], *found[-count + 1 :]]


@torch.no_grad()
def by_steps(run: Any, samples: np.ndarray, label: int) -> float:
    """-log P sample by sample, as it would be drawn, and of the end."""
    state, total = run.model.begin(1, torch.tensor([label])), 0.0
    log_probs, state = run.model.step(torch.empty(1, 0, dtype=torch.long), state)
    for one in [*(levels_of(samples, 9, "mu") + FIRST).tolist(), STOP]:
        total -= float(log_probs[0, one])
        log_probs, state = run.model.step(torch.tensor([[one]]), state)
    return total


def test_nats_are_those_of_each_sample_and_of_the_end(run: Any) -> None:
    given = sounds(run)
    for number, name in enumerate(run.labels):
        assert run.nats(given, name) == pytest.approx([by_steps(run, one, number) for one in given], rel=1e-5)
    prior = [math.log(count / sum(run.model.labels.counts)) for count in run.model.labels.counts]
    for one, whole in zip(given, run.nats(given), strict=True):
        joint = [math.exp(prior[n] - by_steps(run, one, n)) for n in range(2)]
        assert whole == pytest.approx(-math.log(sum(joint)), rel=1e-5)
    assert [label for label, _ in run.predict(given)] == ["high", "low", "low"]


def test_it_measures_what_it_scores(run: Any) -> None:
    """The end is in the loss and is no sample."""
    found, shards = run.evaluate(), run.held_out(None, "valid")[1]
    assert found.tokens == len(shards) and found.documents == shards.documents > 1
    assert found.nats_each == pytest.approx(found.loss * found.tokens / found.documents)
    assert found.bits_per_character == pytest.approx(
        found.loss * found.tokens / (len(shards) - shards.documents) / math.log(2)
    )
    assert "nats_per_sound" in found.as_dict() and found.spelt().endswith(" bits/sample")


def test_it_draws_sounds_that_end(run: Any) -> None:
    for label in run.labels:
        drawn = run.draw(6, label=label, seed=2)
        assert all(one.dtype == np.float32 and one.ndim == 1 and (np.abs(one) <= 1).all() for one in drawn)
        assert [found for found, _ in run.predict([one for one in drawn if len(one) > 7])].count(label) >= 4
        assert max(map(len, drawn)) < RATE  # it has learnt that they end long before a second is over
    assert max(map(len, run.draw(6, label="low", seconds=0.005))) == 5


def test_the_beginning_is_kept(run: Any) -> None:
    begun = sounds(run)[0]
    for keep, count in ((None, len(begun)), (0.01, 10)):
        (drawn,) = run.draw(1, label="high", begun=begun, keep=keep, seconds=0.01)
        assert drawn[:count] == pytest.approx(begun[:count], abs=0.26) and count <= len(drawn) <= count + 10
        assert (levels_of(drawn[:count], 9, "mu") == levels_of(begun[:count], 9, "mu")).all()
    with pytest.raises(UserError, match="keep=-1"):
        run.draw(1, label="high", begun=begun, keep=-1)


def test_what_cannot_be_read(run: Any, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"array 1 is int64 \(3,\); allowed: samples of -1 to 1 at 1,000 Hz"):
        run.nats(np.array([1, 2, 3]))
    with pytest.raises(UserError, match=r"array 1 is float64 \(0,\)"):
        run.predict(np.array([]))
    (tmp_path / "a.wav").write_bytes(b"RIFF")
    with pytest.raises(UserError, match=r"a\.wav"):
        run.nats(tmp_path / "a.wav")


def test_what_is_left_in_the_folder(run: Any) -> None:
    card = (run.folder / "README.md").read_text("utf-8")
    assert (
        "| nats per sound |" in card and "| bits per sample |" in card and "![sounds that it drew](samples.png)" in card
    )
    assert (run.folder / "samples.png").stat().st_size > 5_000


def test_files_of_sounds(run: Any, call: Any) -> None:
    found = call("draw", run.folder, "--number", 2, "--seconds", 0.03, "--out", "out")
    assert found.error == "out is written\n"
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "high-01.wav", "high-02.wav", "low-01.wav", "low-02.wav", "sounds.png",
    ]  # fmt: skip
    with wave.open("out/low-02.wav") as file:
        assert file.getframerate() == RATE
        samples = np.frombuffer(file.readframes(RATE), "<i2") / 2**15
    assert samples == pytest.approx(run.draw(2, label="low", seed=2, seconds=0.03)[1], abs=1e-4)
    assert call("predict", run.folder, "out/low-02.wav").out == "low\tout/low-02.wav\n"
    line = call("score", run.folder, "out/low-02.wav", "--label", "low").out
    assert line.endswith(" bits/sample\tout/low-02.wav\n")
    why = "--out a.png, and this run draws sounds; allowed: the name of a folder, or of one .wav"
    assert call.refused("draw", run.folder, "--out", "a.png") == why
    one = ("--label", "low", "--number", 1, "--seed", 2, "--seconds", 0.03)
    assert "--out a.wav for 2 sounds; allowed: a folder" in call.refused(
        "draw", run.folder, "--number", 1, "--out", "a.wav"
    )
    assert json.loads(call("draw", run.folder, *one, "--out", "a.wav", "--json").out)[0]["file"] == "a.wav"
    with wave.open("a.wav") as file:
        assert np.frombuffer(file.readframes(RATE), "<i2") / 2**15 == pytest.approx(
            run.draw(1, label="low", seed=2, seconds=0.03)[0], abs=1e-4
        )
    assert "seconds=0" in call.refused("draw", run.folder, "--seconds", 0, "--out", "b")
    far = call.refused("draw", run.folder, "--seconds", 1e9, "--out", "b")
    assert far == "seconds=1000000000.0; allowed: a number > 0 and <= 600"
    assert not Path("b").exists()
