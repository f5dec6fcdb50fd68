"""What a finished run on pictures drew: samples.png, a row for each label, in its folder."""

from __future__ import annotations

from foresay.media import MediaRun
from foresay.train.sheet import sheet, squared, write_image

FILE = "samples.png"
NUMBER, EACH = 16, 8  # without labels, and of each
MOST = 10  # labels
LONGEST = 4096  # levels of a picture, for drawing takes as many steps


def write_samples(run: MediaRun) -> bool:
    """Draws some pictures; of sounds, of large pictures and of models that draw nothing there is none."""
    if not 0 < run.form.size <= LONGEST or not run.model.causal:
        return False
    labels = run.labels[:MOST]
    rows = [run.draw(EACH, label=label, seed=seed) for seed, label in enumerate(labels, 1)] or squared(run.draw(NUMBER))
    write_image(run.folder / FILE, sheet(rows))
    return True
