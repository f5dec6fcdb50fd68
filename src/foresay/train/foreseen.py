"""Measuring a model of series on held-out steps: nats a step, and how far its mean of the next step is off.

    loss         mean -log p(x_t | x_<t) over the steps, in nats; of densities it depends on the unit of x, and may be
                 below 0
    error        mean |x_t - E[x_t | x_<t]| over all known numbers
    naive_error  the same of the step before, x_{t-1}, in place of the mean
    f1           of numbers that are 0 or 1: F1 of the ones, taking P >= 1/2 for a one

The interval is 95 %, by a bootstrap over windows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from foresay.data.batch import Batch
from foresay.data.batches import Batches
from foresay.data.series_shards import SeriesShards
from foresay.embed.frames import binary
from foresay.models.series import Series
from foresay.train.evaluate import bootstrap, told


@dataclass(frozen=True)
class SeriesFigures:
    """What an evaluation gives; `tokens` of `of` steps were read."""

    loss: float
    interval: tuple[float, float]
    tokens: int
    of: int
    series: int
    error: float
    naive_error: float
    f1: float | None = None  # of ones, where there are 0 and 1 alone

    def spelt(self) -> str:
        """In a line."""
        more = f", F1 of ones {100 * self.f1:.2f} %" if self.f1 is not None else self._errors()
        return f"valid loss {told(self.loss, 4)} nats/step{more}"

    def _errors(self) -> str:
        return f", mean error {self.error:.4g} (that of the step before {self.naive_error:.4g})"

    def as_dict(self) -> dict[str, Any]:
        return {
            "loss": self.loss,
            "nats_per_step": self.loss,
            "nats_per_step_interval": list(self.interval),
            "error": self.error,
            "naive_error": self.naive_error,
            **({} if self.f1 is None else {"f1_of_ones": self.f1}),
            "steps": self.tokens,
            "of_steps": self.of,
            "series": self.series,
        }


@dataclass
class _Sums:
    """Of one batch."""

    nats: np.ndarray  # of each window
    steps: np.ndarray  # of each window
    errors: np.ndarray  # of the mean, of the step before, and how many numbers each is of
    ones: np.ndarray  # found, falsely found, missed


@torch.inference_mode()
def measure_series(model: Series, batches: Batches, shards: Any, *, limit: int | None = None) -> SeriesFigures:
    """Every step once and in order; at most about `limit` steps."""
    assert isinstance(shards, SeriesShards)
    was_training = model.training
    model.eval()
    found: list[_Sums] = []
    for sums in _measured(model, batches, shards):
        found.append(sums)
        if limit is not None and sum(int(one.steps.sum()) for one in found) >= limit:
            break
    model.train(was_training)
    nats, steps = (np.concatenate([getattr(one, name) for one in found]) for name in ("nats", "steps"))
    error, naive, numbers, beside = sum(one.errors for one in found)  # pyright: ignore[reportGeneralTypeIssues]
    right, false, missed = sum(one.ones for one in found)  # pyright: ignore[reportGeneralTypeIssues]
    return SeriesFigures(
        loss=float(nats.sum() / steps.sum()),
        interval=bootstrap(nats, steps),
        tokens=int(steps.sum()),
        of=len(shards),
        series=shards.documents,
        error=float(error / max(numbers, 1)),
        naive_error=float(naive / max(beside, 1)),
        f1=float(2 * right / max(2 * right + false + missed, 1)) if all(binary(model.form)) else None,
    )


def _measured(model: Series, batches: Batches, shards: SeriesShards) -> Iterator[_Sums]:
    for batch in batches.evaluation(shards):  # pyright: ignore[reportArgumentType]
        yield _of_batch(model, batch.to(model.device))


def _of_batch(model: Series, batch: Batch) -> _Sums:
    targets, frames = batch.targets, batch.frames
    assert targets is not None and frames is not None
    known = ~targets.isnan()
    nats = -model.measure(batch)[0].double().sum(1).cpu().numpy()
    mean = model.expect(batch)
    error = (targets - mean).abs().double()[known].sum()
    both = known & ~frames.isnan()
    naive = (targets - frames).abs().double()[both].sum()
    says, is_one = mean >= 0.5, targets == 1
    ones = [(says & is_one)[known].sum(), (says & ~is_one)[known].sum(), (~says & is_one)[known].sum()]
    errors = [float(error), float(naive), int(known.sum()), int(both.sum())]
    return _Sums(nats, known.any(-1).sum(1).cpu().numpy(), np.array(errors), np.array([int(one) for one in ones]))
