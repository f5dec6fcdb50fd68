"""What a finished run on pictures or sounds drew: samples.png, a row for each label, in its folder."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from foresay.data.row_shards import lengths
from foresay.data.shards import Shards
from foresay.media import MediaRun
from foresay.train.sheet import sheet_of, write_image
from foresay.train.waves import COLUMNS, draw_waves

FILE = "samples.png"
NUMBER, EACH = 16, 8  # pictures without labels, and of each
MOST = 10  # labels
LONGEST = 4096  # levels of a picture or a sound, for drawing takes as many steps
SECONDS, BEYOND = 1.0, 1.5  # of a sound, at most; and so many times the longest it has learnt


def write_samples(run: MediaRun, learnt: Shards, tell: Callable[[float], None] = lambda done: None) -> bool:
    """Draws some pictures or sounds; of large pictures and of models that draw nothing there is none.

    `learnt` is what it was trained on; `tell` is called with the share that is done.
    """
    if run.form.size > LONGEST or not run.model.causal:
        return False
    labels: list[str | None] = [*run.labels[:MOST]] or [None]
    longest = min(LONGEST, BEYOND * int(lengths(learnt).max()))
    drawn = {}
    for seed, label in enumerate(labels, 1):
        drawn[label] = _some(run, label, seed, longest, alone=len(labels) == 1)
        tell(seed / len(labels))
    if run.form.rate:
        draw_waves(run.folder / FILE, drawn, run.form.rate)
    else:
        write_image(run.folder / FILE, sheet_of(drawn))
    return True


def _some(run: MediaRun, label: str | None, seed: int, longest: float, *, alone: bool) -> list[np.ndarray]:
    """A row of them; of pictures that have no other label, a square."""
    if run.form.rate:
        seconds = min(SECONDS, longest / run.form.rate)
        return run.draw(COLUMNS, label=label, seed=seed, seconds=seconds)
    return run.draw(NUMBER if alone else EACH, label=label, seed=seed)
