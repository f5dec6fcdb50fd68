"""A picture of an alignment: a row for each symbol that was written, a column for each of the source; dark is much."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from foresay.study import pictures
from foresay.study.visible import visible
from foresay.translate import Aligned

CELL = 0.26  # inches


def draw(found: Aligned, path: Path) -> None:
    """Writes the picture, as SVG or PNG by the name's ending."""
    pictures.write(path, figure_of(found))


def figure_of(found: Aligned) -> Any:
    """The picture as matplotlib's figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    for what, symbols in (("the source", found.source), ("the target", found.target)):
        pictures.check_number(what, len(symbols))
    wide, high = 2.4 + CELL * len(found.source), 1.4 + CELL * len(found.target)
    figure = Figure(figsize=(wide, high), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    image = axes.imshow(found.weights, cmap="Blues", vmin=0.0, vmax=1.0, aspect="equal")
    slant = 90 if any(len(one) > 2 for one in shown(found.source)) else 0
    axes.set_xticks(range(len(found.source)), shown(found.source), rotation=slant, fontsize=9, parse_math=False)
    axes.set_yticks(range(len(found.target)), shown(found.target), fontsize=9, parse_math=False)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel("source (■ its end)")
    axes.set_ylabel("written, from above")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    bar = figure.colorbar(image, ax=axes, label="weight", shrink=0.8)
    bar.outline.set_visible(False)  # pyright: ignore[reportCallIssue]
    return figure


def shown(symbols: Sequence[str]) -> list[str]:
    """Symbols as they can be seen; ■ is the end."""
    return ["■" if one == "<stop>" else visible(one) for one in symbols]
