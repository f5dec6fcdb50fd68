"""Small pictures of two labels, and a run that has learnt them, for the tests of runs on pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from foresay import start
from foresay.train.progress import Watch

SHAPE = (4, 3)
LEVELS = {"kind": "levels", "number": 5}
TRAIN = {"batches": {"kind": "images", "rows": 8}, "optimizer": {"kind": "adamw", "lr": 0.02}, "steps": 60}


def striped(place: Path, count: int = 60) -> str:
    """Pictures of label `rows`, dark above and light below, and `columns`, light on the left; with some noise."""
    draw = np.random.default_rng(7)
    values = draw.integers(0, 60, (count, *SHAPE))
    values[::3, 2:] += 190
    values[1::3, :, :1] += 190
    values[2::3, :, :1] += 190
    np.save(place, values.astype(np.uint8))
    place.with_suffix(".labels.txt").write_text("rows\ncolumns\ncolumns\n" * (count // 3))
    return str(place)


def train_small(folder: Path, **more: Any) -> Any:
    data = {"kind": "images", "train": striped(folder / "x.npy")}
    model = {"embedding": {"size": 8}, "encoder": {"kind": "recurrent", "size": 24}}
    raw = {"task": "language-model", "tokens": LEVELS, "data": data, "train": TRAIN} | model | more
    return start.train(raw, out=folder / "run", device="cpu", watch=Watch())


def pictures(run: Any, count: int = 3) -> list[np.ndarray]:
    values = np.lib.format.open_memmap(run.folder.parent / "x.npy", mode="r")[:count]
    return [np.array(one) for one in values]
