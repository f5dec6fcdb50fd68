"""Short sounds of two labels as WAV files, and a run that has learnt them, for the tests of runs on sounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from foresay import start
from foresay.data.wav import wav_bytes
from foresay.train.progress import Watch

RATE = 1_000
TRAIN = {
    "batches": {"kind": "buckets", "tokens": 240, "longest": 64},
    "optimizer": {"kind": "adamw", "lr": 0.02},
    "steps": 60,
}


def hummed(folder: Path, count: int = 40) -> str:
    """Sounds of 20 to 30 samples: `high` changes its sign at every sample, `low` at every fourth."""
    draw = np.random.default_rng(7)
    for number in range(count):
        label = ("high", "low", "low")[number % 3]
        steps = np.arange(draw.integers(20, 31))
        sign = 1 - 2.0 * (steps // (1 if label == "high" else 4) % 2)
        (folder / label).mkdir(parents=True, exist_ok=True)
        (folder / label / f"{number:02d}.wav").write_bytes(wav_bytes(sign * draw.uniform(0.3, 0.9, len(steps)), RATE))
    return str(folder)


def train_small(folder: Path, **more: Any) -> Any:
    data = {"kind": "sounds", "train": hummed(folder / "in")}
    model = {"embedding": {"size": 8}, "encoder": {"kind": "dilated", "size": 12, "dilations": [1, 2, 4]}}
    raw = {"task": "language-model", "tokens": {"kind": "levels", "number": 9}, "data": data, "train": TRAIN}
    return start.train(raw | model | more, out=folder / "run", device="cpu", watch=Watch())
