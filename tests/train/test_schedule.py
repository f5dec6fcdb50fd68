"""Learning-rate schedules, their factors worked by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from foresay import parts
from foresay.train.optimise import AdamW
from foresay.train.schedule import Constant, Cosine, Decay, InverseRoot, Linear, Schedule
from tests.train.made import make_trainer

R = 0.5**0.5  # cos 45°

BY_HAND = [
    (Constant(), 4, [1, 1, 1, 1]),
    (Constant(warmup=4), 6, [0.25, 0.5, 0.75, 1, 1, 1]),
    (Linear(), 4, [1, 0.75, 0.5, 0.25]),
    (Linear(floor=0.2), 4, [1, 0.8, 0.6, 0.4]),
    (Linear(warmup=2), 6, [0.5, 1, 1, 0.75, 0.5, 0.25]),
    (Cosine(), 4, [1, (1 + R) / 2, 0.5, (1 - R) / 2]),
    (Cosine(warmup=2, floor=0.5), 6, [0.5, 1, 1, 0.5 + (1 + R) / 4, 0.75, 0.5 + (1 - R) / 4]),
    (InverseRoot(warmup=4), 17, [0.25, 0.5, 0.75, 1, 1, 0.8**0.5, (4 / 6) ** 0.5, (4 / 7) ** 0.5, R]),
    (InverseRoot(warmup=0), 4, [1, R, 3**-0.5, 0.5]),
    (Decay(hold=2, every=3), 9, [1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125]),
    (Decay(hold=1, every=1, factor=0.1, warmup=2), 5, [0.5, 1, 1, 0.1, 0.01]),
    (Decay(hold=1, every=2, factor=0.5, warmup=1, unit="epoch").in_steps(2), 9, [1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.25]),
]


@pytest.mark.parametrize(("schedule", "steps", "factors"), BY_HAND)
def test_factors_by_hand(schedule: Schedule, steps: int, factors: list[float]) -> None:
    assert [schedule.factor(step, steps) for step in range(len(factors))] == pytest.approx(factors)


@pytest.mark.parametrize(("schedule", "last"), [(Linear(floor=0.1), 0.1), (Cosine(floor=0.1), 0.1)])
def test_past_the_end_the_floor_stays(schedule: Schedule, last: float) -> None:
    assert schedule.factor(10, 10) == schedule.factor(99, 10) == pytest.approx(last)


def test_a_schedule_by_epochs_follows_the_text(tiny: dict, tmp_path: Path) -> None:
    """Zaremba's: the rate itself for six epochs, divided by 1.2 at the beginning of each one after them."""
    words = ("train.optimizer=sgd", "train.lr=1.0", "train.schedule={kind: decay, hold: 6, every: 1, unit: epoch}")
    trainer = make_trainer(tiny, tmp_path, *words, "train.schedule.factor=0.8333333333333334", "train.accumulate=2")
    epoch = trainer.order.per_epoch // 2
    assert epoch > 3
    for number, rate in ((0, 1.0), (5, 1.0), (6, 1 / 1.2), (7, 1 / 1.44), (38, 1.2**-33)):
        assert trainer.rate(number * epoch) == trainer.rate((number + 1) * epoch - 1) == pytest.approx(rate)
    assert Decay(hold=3, every=2).in_steps(10).factor(4, 9) == Decay(hold=3, every=2).factor(4, 9)


def test_a_warm_up_as_long_as_the_run_has_no_fall() -> None:
    assert [Cosine(warmup=3).factor(step, 3) for step in range(3)] == pytest.approx([1 / 3, 2 / 3, 1])


def test_cosine_and_linear_are_torchs() -> None:
    weight = torch.nn.Parameter(torch.zeros(1))
    for ours, theirs in (
        (Cosine(), lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 7)),
        (Linear(floor=0.3), lambda o: torch.optim.lr_scheduler.LinearLR(o, 1.0, 0.3, 7)),
    ):
        optimizer = torch.optim.SGD([weight], lr=1.0)
        scheduler = theirs(optimizer)
        for step in range(7):
            assert ours.factor(step, 7) == pytest.approx(scheduler.get_last_lr()[0], abs=1e-6)
            optimizer.step()
            scheduler.step()


def test_the_rate_is_the_factor_of_the_top_rate() -> None:
    assert AdamW(lr=0.004, schedule=Linear()).rate(1, 4) == pytest.approx(0.003)


def test_every_registered_schedule_is_here() -> None:
    assert {schedule.part_name for schedule, _, _ in BY_HAND} == set(parts.names("schedule"))
