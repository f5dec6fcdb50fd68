"""A time budget turned into steps before the first step, by measuring a few that are thrown away.

    steps = (seconds left - evaluations - reserve) / seconds per step

The steps stand in recipe.yaml, so that the run can be repeated without a clock.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch

from foresay.data.loader import Loader
from foresay.train.loop import Trainer

EVALUATIONS = 8
WARM = 3  # steps that are not timed
FEWEST = 10  # steps, however short the time
RESERVE = 3.0  # seconds for the curve, the card and the last checkpoint


def plan(make_trainer: Callable[[], Trainer], seconds: float) -> dict[str, int]:
    """The settings `train.steps`, `train.evaluate.*` and `train.save.every` that fill `seconds` from now on."""
    began = time.perf_counter()
    trainer = make_trainer()
    step_seconds = _seconds_per_step(trainer, max(0.04 * seconds, 1.0))
    tokens, evaluation_seconds = _evaluation(trainer, 0.015 * seconds)
    left = seconds - (time.perf_counter() - began) - RESERVE - EVALUATIONS * evaluation_seconds
    steps = max(int(left / step_seconds), FEWEST)
    every = -(-steps // EVALUATIONS)
    planned = {
        "train.steps": steps,
        "train.evaluate.every": every,
        "train.evaluate.tokens": tokens,
        "train.save.every": every,
    }
    return trainer.team.told(planned)


def _seconds_per_step(trainer: Trainer, limit: float) -> float:
    """The median time of a step, after some to warm up: the first ones are slow for reasons of their own."""
    times: list[float] = []
    began = _now(trainer)
    with Loader(trainer.order, 0, 0) as loader:
        while trainer.team.told(len(times) < WARM + 3 or _now(trainer) - began < limit):
            before = _now(trainer)
            trainer.train_step([next(loader)[1] for _ in range(trainer.loop.accumulate)])
            times.append(_now(trainer) - before)
    return statistics.median(times[WARM:])


def _evaluation(trainer: Trainer, limit: float) -> tuple[int, float]:
    """How many validation tokens to read each time, so that it takes at most `limit` seconds, and how long that is."""
    valid = trainer.prepared.valid
    if valid is None:
        return 1, 0.0
    probe = min(len(valid), 4000)
    trainer.measure(valid, limit=1)
    began = _now(trainer)
    measured = trainer.measure(valid, limit=probe)
    rate = (_now(trainer) - began) / (probe if measured is None else measured.tokens)
    tokens = max(min(len(valid), trainer.loop.evaluate.tokens, int(limit / rate)), 1)
    return tokens, tokens * rate


def _now(trainer: Trainer) -> float:
    if trainer.device.type == "cuda":
        torch.cuda.synchronize(trainer.device)
    return time.perf_counter()
