"""Short series of two numbers as a table for each, and a run that has learnt them, for the tests of runs on series."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from foresay import start
from foresay.train.progress import Watch

TRAIN = {
    "steps": 40,
    "batches": {"kind": "series", "rows": 4, "length": 16},
    "optimizer": {"kind": "adamw", "lr": 0.02},
    "evaluate": {"every": 10},
    "save": {"every": 5, "keep": 2},
}
TIDES = {
    "task": "series",
    "encoder": {"kind": "recurrent", "cell": "gru", "size": 8, "dropout": 0.1},
    "output": {"kind": "gaussian", "mixtures": 2},
    "horizon": 4,
    "season": 6,
    "train": TRAIN,
}


def risen(folder: Path, count: int = 6, steps: int = 40) -> Path:
    """Waves of six steps with noise, and a second column of their sign; one number is not known."""
    draw = np.random.default_rng(7)
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        height = 10 + 3 * np.sin(2 * np.pi * (np.arange(steps) + number) / 6) + 0.3 * draw.normal(size=steps)
        lines = [f"{one:.4f},{int(one > 10)}" for one in height]
        lines[5] = ",1"
        (folder / f"{number}.csv").write_text("\n".join(["height,high", *lines]) + "\n", "utf-8")
    return folder


def train_small(folder: Path, **more: Any) -> Any:
    data = {"kind": "series", "train": str(risen(folder / "in"))}
    return start.train(TIDES | {"data": data} | more, out=folder / "run", device="cpu", watch=Watch())
