"""A map as a picture: points, labels that do not overlap, and beside them a legend or a colour bar.

Places and sizes of the labels are measured in the pixels they are drawn in, so everything around them stands still:
no layout engine.
"""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from foresay.errors import UserError
from foresay.study.maps.labels import place_labels
from foresay.study.maps.map import COLOURS, GREY, INK, Map, darker, shown
from foresay.train.aside import write_file
from foresay.train.fonts import Font, can_draw, installed_fonts

WIDTH, DOTS = 12.0, 150  # inches, dots an inch
HEIGHTS = 5.5, 9.5  # inches of the map at least and at most: it takes the shape of its points
EDGE, TOP, BOTTOM = 0.15, 0.6, 0.4  # inches around it, with the title above and the note below
BESIDE = 1.1, 1.9  # inches for the colour bar, for the legend
POINT = 4.8  # in 1/72 inch
FEW, LABELS = 120, (10.0, 8.5)  # labels of so few words are larger
SHAPES = {"circle": "o", "square": "s", "diamond": "D", "triangle-up": "^", "cross": "P"}


def write_map_picture(found: Map, path: Path) -> None:
    """Writes the picture, .png or .svg; it appears whole or not at all, and is the same every time."""
    from matplotlib import rc_context

    held = io.BytesIO()
    with warnings.catch_warnings(), rc_context({"svg.hashsalt": "map"}):
        warnings.filterwarnings("ignore", "Glyph")  # in a title in a script that no font has
        kind = path.suffix[1:].lower()
        picture(found).savefig(held, format=kind, dpi=DOTS, metadata={"Date": None} if kind == "svg" else None)
    try:
        write_file(path, held.getvalue())
    except OSError as error:
        raise UserError(f"{path} cannot be written ({error.strerror}); give another place") from None


def picture(found: Map) -> Any:
    """matplotlib's figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    beside = BESIDE[0] if found.by_frequency else BESIDE[1] if found.groups is not None else 0.0
    width, height = WIDTH - 2 * EDGE - beside, _height(found.points, WIDTH - 2 * EDGE - beside)
    tall = height + TOP + BOTTOM
    whole = Figure(figsize=(WIDTH, tall), dpi=DOTS)
    FigureCanvasAgg(whole)
    axes = whole.add_axes((EDGE / WIDTH, BOTTOM / tall, width / WIDTH, height / tall))
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set(color="#DDDDDD", linewidth=0.8)
    axes.margins(0.06)
    axes.set_aspect("equal", adjustable="datalim")
    fonts = installed_fonts()
    family = [font.name for font in fonts]
    above: dict[str, Any] = {"fontsize": 15, "weight": "bold", "color": INK, "va": "center"}
    whole.text(EDGE / WIDTH, 1 - TOP / 2 / tall, found.title, parse_math=False, fontfamily=family, **above)
    inks = _draw_points(axes, found, family)
    labelled = _draw_labels(axes, found, inks, fonts)
    note = found.note + ("" if labelled == len(found.words) else f"; {labelled:,} of {len(found.words):,} words fit")
    whole.text(EDGE / WIDTH, BOTTOM / 2 / tall, note, fontsize=8, color=GREY, va="center")
    return whole


def _height(points: np.ndarray, width: float) -> float:
    """Inches that suit the points: equal distances on both axes, little left empty."""
    across, up = np.ptp(points, axis=0)
    return float(np.clip(width * up / across if across > 0 else np.inf, *HEIGHTS))


def _draw_points(axes: Any, found: Map, family: list[str]) -> list[str]:
    """The points in their colours, what those mean, and the colour of each word's label."""
    style: dict[str, Any] = {"s": POINT**2, "linewidths": 0.5, "edgecolors": "white", "zorder": 2}
    if found.by_frequency:
        _draw_frequencies(axes, found, style)
    elif found.groups is not None:
        return _draw_groups(axes, found, family, style)
    else:
        axes.scatter(*found.points.T, color=COLOURS[0], **style)
    return [INK] * len(found.words)


def _draw_frequencies(axes: Any, found: Map, style: dict[str, Any]) -> None:
    """Frequent words dark, rare ones light, with a bar that says how often."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap, LogNorm
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    assert found.counts is not None
    counts = np.maximum(found.counts, 1)
    order = np.argsort(counts, kind="stable")  # frequent ones on top
    colours = ListedColormap(colormaps["viridis"](np.linspace(0.85, 0.0, 256)))
    norm = LogNorm(counts.min(), max(counts.max(), counts.min() * 1.01))
    drawn = axes.scatter(*found.points[order].T, c=counts[order], cmap=colours, norm=norm, **style)
    bar = axes.figure.colorbar(drawn, cax=axes.inset_axes((1.02, 0.2, 0.014, 0.6)))
    bar.outline.set_visible(False)
    bar.ax.yaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5) if counts.max() < 100 * counts.min() else (1,)))
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    bar.ax.tick_params(labelsize=9, colors=GREY)
    bar.ax.set_title("times in\nthe text", fontsize=9, color=GREY, loc="left", pad=10)


def _draw_groups(axes: Any, found: Map, family: list[str], style: dict[str, Any]) -> list[str]:
    """Each group a colour and a mark, named in the legend; labels in a darker tone of it."""
    inks = [INK] * len(found.words)
    for group, (look, places) in reversed(found.looks().items()):  # ungrouped words below
        label = f"{shown(group)} ({len(places):,})"
        points = found.points[places].T
        axes.scatter(*points, color=look.colour, marker=SHAPES[look.mark], label=label, **style)
        for place in places:
            inks[place] = darker(look.colour)
    handles, labels = axes.get_legend_handles_labels()
    beside = {"loc": "upper left", "bbox_to_anchor": (1.005, 1.0), "frameon": False, "borderaxespad": 0.2}
    legend = axes.legend(handles[::-1], labels[::-1], prop={"family": family, "size": 9}, handletextpad=0.2, **beside)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return inks


def _draw_labels(axes: Any, found: Map, inks: list[str], fonts: list[Font]) -> int:
    """As many labels as fit; their number."""
    from matplotlib.patheffects import withStroke

    whole = axes.figure
    whole.draw_without_rendering()  # fixes where points lie
    renderer, pixels = whole.canvas.get_renderer(), DOTS / 72
    style: dict[str, Any] = {
        "fontsize": LABELS[len(found.words) > FEW],
        "fontfamily": [font.name for font in fonts],
        "parse_math": False,
    }
    style |= {
        "ha": "center",
        "va": "center",
        "zorder": 3,
        "path_effects": [withStroke(linewidth=2, foreground="white")],
    }
    names = [shown(word) for word in found.words]
    order = [place for place in found.by_importance() if can_draw(names[place], fonts)]
    sizes = np.zeros(found.points.shape)
    sizes[order] = _measure(axes, [names[place] for place in order], style, renderer)
    points = axes.transData.transform(found.points)
    radius = POINT / 2 * pixels
    edges = axes.get_window_extent(renderer).extents
    centres = place_labels(points, sizes, np.array(order, int), edges, radius, gap=pixels)
    kept = np.flatnonzero(np.isfinite(centres[:, 0]))
    for place, (x, y) in zip(kept, axes.transData.inverted().transform(centres[kept]), strict=True):
        axes.text(x, y, names[place], color=inks[place], **style)
    return len(kept)


def _measure(axes: Any, names: list[str], style: dict[str, Any], renderer: Any) -> np.ndarray:
    """The width and height of each label as it will be drawn, (N, 2)."""
    probe = axes.text(0.5, 0.5, "", transform=axes.transAxes, **style)
    found = []
    for name in names:
        probe.set_text(name)
        found.append(probe.get_window_extent(renderer).size)
    probe.remove()
    return np.array(found).reshape(-1, 2)
