"""A picture of an alignment: a row for each symbol that was written, a column for each of the source; dark is much."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from pathlib import Path

from foresay.errors import UserError
from foresay.train.aside import write_file
from foresay.translate import Aligned

CELL = 0.26  # inches
ENDINGS = (".svg", ".png")


def check_ending(path: Path) -> Path:
    if path.suffix.lower() not in ENDINGS:
        raise UserError(f"{path}: a picture ends in {' or '.join(ENDINGS)}; give such a name")
    return path


def draw(found: Aligned, path: Path) -> None:
    """Writes the picture, as SVG or PNG by the name's ending."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    wide, high = 1.4 + CELL * len(found.source), 1.2 + CELL * len(found.target)
    figure = Figure(figsize=(wide, high), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.imshow(found.weights, cmap="Blues", vmin=0.0, vmax=1.0, aspect="equal")
    slant = 90 if any(len(one) > 2 for one in shown(found.source)) else 0
    axes.set_xticks(range(len(found.source)), shown(found.source), rotation=slant, fontsize=9, parse_math=False)
    axes.set_yticks(range(len(found.target)), shown(found.target), fontsize=9, parse_math=False)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    held, form = io.BytesIO(), check_ending(path).suffix.lower().removeprefix(".")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # a symbol in a script that the font does not have
        figure.savefig(held, format=form, dpi=130)
    write_file(path, held.getvalue())


def shown(symbols: Sequence[str]) -> list[str]:
    """Symbols as they can be seen: a blank and a newline have signs of their own."""
    return [one.replace("\n", "⏎").replace(" ", "␣").replace("<stop>", "■") for one in symbols]
