"""What a classifier takes for what, as a picture: a row for each label, a column for each answer, shares of the row."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from foresay.data.label_shards import LabelSet
from foresay.errors import UserError
from foresay.train.classified import Classified
from foresay.train.fonts import fit_fonts
from foresay.train.report import write_picture

MOST = 40  # labels; more cannot be read


def check_confusion(labels: LabelSet) -> None:
    """Refuses, before anything is measured, labels that no picture can show."""
    if labels.several:
        raise UserError("a text may have several labels here, so none is taken for another; leave --picture out")
    if len(labels.names) > MOST:
        raise UserError(
            f"there are {len(labels.names)} labels; a picture has room for {MOST}: leave --picture out, use --json"
        )


def draw_confusion(path: Path, found: Classified) -> None:
    """The confusion matrix of an evaluation as a PNG; numbers are texts."""
    table = found.confusion
    assert table is not None
    from matplotlib.figure import Figure

    side = max(3.6, 1.6 + 0.5 * len(table))
    figure = Figure(figsize=(side + 0.9, side), layout="constrained")
    axes = figure.subplots()
    shares = table / np.maximum(table.sum(1, keepdims=True), 1)
    image = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    for (row, column), count in np.ndenumerate(table):
        if count:
            colour = "white" if shares[row, column] > 0.55 else "black"
            axes.text(column, row, f"{count:,}", ha="center", va="center", color=colour, fontsize=8)
    ticks = range(len(found.names))
    axes.set_xticks(ticks, found.names, rotation=0 if max(map(len, found.names)) < 4 else 90, parse_math=False)
    axes.set_yticks(ticks, found.names, parse_math=False)
    axes.set_xlabel("answer")
    axes.set_ylabel("label")
    axes.set_title(f"accuracy {100 * found.accuracy:.1f} % of {found.texts:,} texts", loc="left")
    figure.colorbar(image, ax=axes, label="share of the row", shrink=0.8)
    fit_fonts(figure)
    write_picture(path, figure)
