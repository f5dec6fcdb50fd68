"""A run that was stopped on its way, made in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from foresay import start
from foresay.train.loop import Trainer
from foresay.train.progress import Watch


class Stopped(BaseException):
    """Raised after the step at which a run is to stop."""


def train_to(step: int, recipe: dict[str, Any], out: Path) -> None:
    """Trains up to a step and breaks off without saving, as a kill does."""
    whole = Trainer.train_step

    def train_step(self, batches):
        done = whole(self, batches)
        if self.counters.step == step:
            raise Stopped
        return done

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Stopped):
        patch.setattr(Trainer, "train_step", train_step)
        start.train(recipe, out=out, device="cpu", watch=Watch())
