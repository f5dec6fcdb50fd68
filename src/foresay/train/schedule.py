"""Learning-rate schedules: step (from 0) -> factor of the top rate.

Every one may begin with a linear warm-up over `warmup` steps. `steps` is the length of the whole run. One that counts
in epochs is turned into steps (`in_steps`) once the steps of a pass over the text are known.
"""

from __future__ import annotations

import math
from typing import Literal

from foresay.parts import Count, Rate, Share, Size, part


class Schedule:
    """`factor(step, steps)`: what the learning rate is multiplied with."""

    part_kind = "schedule"
    warmup: int = 0

    def factor(self, step: int, steps: int) -> float:
        if step < self.warmup:
            return (step + 1) / self.warmup
        return self.after(step - self.warmup, max(steps - self.warmup, 1))

    def after(self, step: int, steps: int) -> float:
        """The factor once warmed up; both counted from the end of the warm-up."""
        raise AssertionError(f"{type(self).__name__} has no after")

    def in_steps(self, epoch: int) -> Schedule:
        """The same schedule counted in steps, `epoch` of them being a pass over the text."""
        return self


@part("schedule", "constant")
class Constant(Schedule):
    """The same rate throughout, after the warm-up."""

    def __init__(self, warmup: Count = 0):
        self.warmup = warmup

    def after(self, step: int, steps: int) -> float:
        return 1.0


@part("schedule", "linear")
class Linear(Schedule):
    """Falls on a straight line to `floor` of the rate."""

    def __init__(self, warmup: Count = 0, floor: Share = 0.0):
        self.warmup, self.floor = warmup, floor

    def after(self, step: int, steps: int) -> float:
        return self.floor + (1.0 - self.floor) * (1.0 - min(step / steps, 1.0))


@part("schedule", "cosine")
class Cosine(Schedule):
    """Falls on half a cosine wave to `floor` of the rate."""

    def __init__(self, warmup: Count = 0, floor: Share = 0.0):
        self.warmup, self.floor = warmup, floor

    def after(self, step: int, steps: int) -> float:
        return self.floor + (1.0 - self.floor) * 0.5 * (1.0 + math.cos(math.pi * min(step / steps, 1.0)))


@part("schedule", "inverse-root")
class InverseRoot(Schedule):
    """sqrt(w / (w + step)), w = max(warmup, 1): the schedule of the first Transformers."""

    def __init__(self, warmup: Count = 1000):
        self.warmup = warmup

    def after(self, step: int, steps: int) -> float:
        w = max(self.warmup, 1)
        return math.sqrt(w / (w + step))


@part("schedule", "decay")
class Decay(Schedule):
    """Constant for `hold` steps, then multiplied by `factor` every `every` steps; or epochs (Zaremba's PTB models)."""

    def __init__(
        self,
        hold: Count,
        every: Size,
        factor: Rate = 0.5,
        warmup: Count = 0,
        unit: Literal["step", "epoch"] = "step",
    ):
        self.hold, self.every, self.rate, self.warmup, self.unit = hold, every, factor, warmup, unit

    def after(self, step: int, steps: int) -> float:
        return 1.0 if step < self.hold else self.rate ** ((step - self.hold) // self.every + 1)

    def in_steps(self, epoch: int) -> Schedule:
        if self.unit == "step":
            return self
        return Decay(self.hold * epoch, self.every * epoch, self.rate, self.warmup)
