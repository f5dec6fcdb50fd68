"""A time budget becomes steps, by a clock that the test sets."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from foresay.train import budget
from foresay.train.loop import Trainer
from tests.train.made import make_trainer

STEP, TOKEN = 0.25, 2.0**-10  # seconds that a training step and an evaluated token take


class Clock:
    """Stands still but for the work that is done."""

    def __init__(self) -> None:
        self.now, self.steps, self.read = 0.0, 0, []

    def train_step(self, *_: object) -> tuple[float, float]:
        self.now, self.steps = self.now + STEP, self.steps + 1
        return 1.0, 1.0

    def evaluate(self, *_: object, limit: int) -> SimpleNamespace:
        self.now += limit * TOKEN
        self.read.append(limit)
        return SimpleNamespace(tokens=limit)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(budget.time, "perf_counter", lambda: made.now)
    monkeypatch.setattr(Trainer, "train_step", made.train_step)
    monkeypatch.setattr(Trainer, "measure", made.evaluate)
    return made


def test_the_time_is_filled(clock: Clock, tiny: dict, tmp_path: Path) -> None:
    trainer = make_trainer(tiny, tmp_path)
    assert trainer.prepared.valid is not None and len(trainer.prepared.valid) > 2000 == trainer.loop.evaluate.tokens
    planned = budget.plan(lambda: trainer, 100.0)
    assert clock.steps == 16  # 4 % of the time, the first three only to warm up
    measured = clock.now
    assert measured == pytest.approx(16 * STEP + sum(clock.read) * TOKEN)
    # 1.5 % of the time for each of 8 evaluations: 1536 tokens; the rest, less 3 seconds, is for steps.
    steps = int((100 - measured - 3 - 8 * 1.5) / STEP)
    assert planned == {
        "train.steps": steps,
        "train.evaluate.every": -(-steps // 8),
        "train.evaluate.tokens": 1536,
        "train.save.every": -(-steps // 8),
    }
    assert steps == 315


def test_much_time_reads_what_there_is_and_no_more(clock: Clock, tiny: dict, tmp_path: Path) -> None:
    planned = budget.plan(lambda: make_trainer(tiny, tmp_path), 10_000.0)
    assert planned["train.evaluate.tokens"] == 2000  # as the recipe says


def test_no_time_is_ten_steps(clock: Clock, tiny: dict, tmp_path: Path) -> None:
    planned = budget.plan(lambda: make_trainer(tiny, tmp_path), 0.5)
    assert (planned["train.steps"], planned["train.evaluate.every"]) == (10, 2)


def test_without_a_validation_text_nothing_is_kept_back_for_it(clock: Clock, tiny: dict, tmp_path: Path) -> None:
    trainer = make_trainer(tiny | {"data": tiny["data"] | {"share": 0.0}}, tmp_path)
    planned = budget.plan(lambda: trainer, 100.0)
    assert clock.read == [] and planned["train.steps"] == int((100 - clock.now - 3) / STEP)


def test_a_step_of_several_batches_is_measured_whole(
    clock: Clock, tiny: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[int] = []
    monkeypatch.setattr(Trainer, "train_step", lambda _, batches: (given.append(len(batches)), clock.train_step())[1])
    budget.plan(lambda: make_trainer(tiny, tmp_path, "train.accumulate=3"), 10.0)
    assert set(given) == {3}
