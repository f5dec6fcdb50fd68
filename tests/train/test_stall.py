"""The notice that validation has stopped improving: once a stall, with what can be done."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from foresay.train.stall import falling, stalled
from tests.train.made import Notes, make_trainer
from tests.train.test_loop_keeping import scripted


def lines(train: list[float], valid: dict[int, float]) -> list[dict]:
    """A training loss for each step from 1 on, and validation losses."""
    trained = [{"step": step, "loss": loss} for step, loss in enumerate(train, 1)]
    return trained + [{"step": step, "valid_loss": loss} for step, loss in valid.items()]


def noisy(first: float, last: float, count: int) -> list[float]:
    return [first + (last - first) * i / (count - 1) + 0.01 * (-1) ** i for i in range(count)]


def test_a_level_is_no_overfitting() -> None:
    level = lines(noisy(3.0, 2.0, 20) + noisy(2.0, 2.0, 20), {20: 2.25, 30: 2.25, 35: 2.26, 40: 2.25})
    assert stalled(40, 20, 0, level) == (
        "step 40: validation has not improved since step 20 (loss 2.2500); the best weights are kept; "
        "train.patience=3 would stop by itself"
    )
    assert "patience" not in stalled(40, 20, 9, level)


@pytest.mark.parametrize(
    ("by", "measured", "told"),
    [
        ("accuracy", {"valid_accuracy": 0.9468}, "(accuracy 94.68 %)"),
        ("f1", {"valid_macro_f1": 0.8359}, "(F1 83.59 %)"),
        ("f1", {"valid_spans": {"f1": 0.37}}, "(F1 37.00 %)"),
    ],
)
def test_the_best_is_told_by_what_it_is_the_best(by, measured, told) -> None:
    level = [{"step": step, "valid_loss": 2.0, **measured} for step in (20, 30, 35, 40)]
    assert told in stalled(40, 20, 0, level, by)


def test_overfitting_is_told_with_what_to_do() -> None:
    train = noisy(3.0, 2.0, 20) + noisy(2.0, 1.0, 20)
    told = stalled(40, 20, 0, lines(train, {20: 2.25, 30: 2.3, 35: 2.35, 40: 2.4}))
    before, after = sum(train[10:20]) / 10, sum(train[30:]) / 10
    assert (
        f"Training loss still falls ({before:.4f} to {after:.4f}) while validation loss rises (2.2500 to 2.4000)"
        in told
    )
    assert told.endswith("the model overfits; more dropout, more text or a smaller model help")
    assert "overfits" not in stalled(40, 20, 0, lines(train, {20: 2.25, 30: 2.251, 35: 2.25, 40: 2.252}))


def test_a_fall_by_chance_is_none() -> None:
    wild = [2.0 + (-1) ** i for i in range(40)]
    assert falling(list(enumerate(wild, 1)), 20) is None
    steady = [(step, 3.0 - step / 20) for step in range(1, 41)]
    assert falling(steady, 20) == pytest.approx(
        (sum(x for _, x in steady[10:20]) / 10, sum(x for _, x in steady[30:]) / 10)
    )
    assert falling(steady[:22], 20) is None and falling(steady, 0) is None and falling([], 5) is None


def test_it_is_said_once_a_stall(tiny: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, [3.0, 3.1, 3.2, 3.1, 3.3, 3.2, 2.0, 2.5, 2.1, 2.2, math.nan, 2.1])
    trainer = make_trainer(tiny, tmp_path, "train.eval_every=2", watch=(notes := Notes()))
    trainer.run()
    told = [note for note in notes.notes if "has not improved" in note]
    assert [note.split(" (loss")[0] for note in told] == [
        "step 8: validation has not improved since step 2",
        "step 20: validation has not improved since step 14",
    ]


def test_patience_says_that_it_stopped(tiny: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, [3.0, 3.1, 3.2, 3.1, 3.3, 3.2])
    trainer = make_trainer(tiny, tmp_path, "train.eval_every=2", "train.patience=4", watch=(notes := Notes()))
    trainer.run()
    assert [note.split(":")[0] for note in notes.notes] == ["step 8", "step 10"]
    assert "patience=" not in notes.notes[0] and notes.notes[1].endswith(
        "the last 4 evaluations brought nothing better than step 2, which is kept (train.patience=4)"
    )
