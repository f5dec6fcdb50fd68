"""The picture: how often each symbol is seen over its rank, and how much of the text the most frequent ones cover.

Both over a logarithmic axis, for 30 symbols and for 200,000. The colours are Okabe and Ito's, which people who confuse
red and green can tell apart; what they mean is also in the shape of the line and of the mark.
"""

from __future__ import annotations

import io
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from foresay.errors import UserError
from foresay.study.visible import visible
from foresay.study.vocabulary.facts import Curves, Facts
from foresay.train.aside import write_file
from foresay.train.fonts import can_draw, installed_fonts

FORMATS = (".png", ".svg", ".pdf")
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#5A5A5A"
MARKS = {90: "o", 95: "s", 99: "^"}  # per cent of the text -> shape
POINTS = 2000  # drawn of a curve at most: more than there are pixels
FEW = 150  # symbols up to which each is a dot


def check_name(path: Path) -> Path:
    """The path of a picture, refused unless its ending is one that can be drawn."""
    if path.suffix.lower() not in FORMATS:
        raise UserError(f"--out {path}; allowed: a picture that ends in {', '.join(FORMATS)}")
    return path


def draw(facts: Facts, path: Path) -> None:
    """Writes the picture; it appears whole or not at all."""
    held = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # a name in a script that no font has
        figure(facts).savefig(held, format=path.suffix[1:].lower(), dpi=130)
    try:
        write_file(path, held.getvalue())
    except OSError as error:
        raise UserError(f"{path} cannot be written ({error.strerror}); give another place: --out PICTURE") from None


def figure(facts: Facts) -> Any:
    """The two panels as matplotlib's figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    whole = Figure(figsize=(11, 4.8), layout="constrained")
    FigureCanvasAgg(whole)
    left, right = whole.subplots(1, 2)
    fonts = installed_fonts()
    kind, tokens = facts.about.tokens["kind"], facts.texts["train"].tokens
    title = f"{facts.about.name}: {facts.symbols:,} symbols ({kind}), {tokens:,} tokens of train text"
    family = [font.name for font in fonts]
    whole.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold", parse_math=False, fontfamily=family)
    _draw_frequencies(left, facts, fonts)
    _draw_coverage(right, facts)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25, linewidth=0.7)
        axes.set_axisbelow(True)
    return whole


def _draw_frequencies(axes: Any, facts: Facts, fonts: list[Any]) -> None:
    """Rank against frequency, Zipf's line, and the symbols at ranks 1, 10, 100, ..."""
    curves, line = facts.curves, facts.zipf
    rank = thinned(len(curves.f))
    style = {"marker": "o", "markersize": 4} if len(curves.f) <= FEW else {}
    axes.loglog(rank, curves.f[rank - 1], color=BLUE, linewidth=2, label="symbols of the text", **style)
    if line is not None:
        ends = np.array([line.first, line.last])
        label = f"Zipf: slope {_minus(line.slope)}, ranks {line.first:,} to {line.last:,}"
        axes.loglog(ends, [line.at(end) for end in ends], color=ORANGE, linewidth=1.8, linestyle="--", label=label)
    for place, piece in curves.named:
        if 3 * place <= len(curves.f):  # beyond there is no room for a name
            _name(axes, place, int(curves.f[place - 1]), visible(piece, 14), fonts)
    _scale_ranks(axes, len(curves.f))
    _scale_counts(axes, int(curves.f[-1]), max(int(curves.f[0]), line.at(line.first) if line else 0))
    axes.set_xlabel("rank of the symbol")
    axes.set_ylabel("times in the train text")
    axes.set_title("How often each symbol is seen", loc="left", fontsize=11)
    axes.legend(frameon=False, loc="lower left", fontsize=9)


def _name(axes: Any, rank: int, times: int, text: str, fonts: list[Any]) -> None:
    """Writes a symbol beside its point, if some font has its characters."""
    from matplotlib.patheffects import withStroke

    if not can_draw(text, fonts):
        return
    axes.plot([rank], [times], marker="o", markersize=5, color=BLUE, markeredgecolor="white", zorder=5)
    style: dict[str, Any] = {"fontsize": 9, "color": GREY, "fontfamily": [font.name for font in fonts], "zorder": 6}
    style |= {"parse_math": False, "path_effects": [withStroke(linewidth=2.5, foreground="white")]}
    axes.annotate(text, (rank, times), xytext=(6, 5), textcoords="offset points", **style)


def _draw_coverage(axes: Any, facts: Facts) -> None:
    """The share of the text that the most frequent symbols cover, with marks at 90, 95 and 99 %."""
    curves: Curves = facts.curves
    rank = thinned(len(curves.f))
    axes.semilogx(rank, 100 * curves.train[rank - 1], color=BLUE, linewidth=2, label="train")
    if curves.valid is not None:
        shares = 100 * curves.valid[rank - 1]
        axes.semilogx(rank, shares, color=GREEN, linewidth=1.6, linestyle=(0, (4, 2)), label="validation")
    for percent, shape in MARKS.items():
        found = facts.coverage[percent]
        if found is None:
            axes.plot([], [], linestyle="none", label=f"{percent} % of train: not reached")
            continue
        height = 100 * curves.train[found - 1]
        axes.vlines(found, 0, height, color=ORANGE, linewidth=0.9, linestyle=":")
        label = f"{percent} % of train: {found:,} symbol{'s' if found > 1 else ''}"
        axes.plot(found, height, shape, color=ORANGE, markersize=7, markeredgecolor="white", zorder=5, label=label)
    _scale_ranks(axes, len(curves.f))
    axes.set_ylim(0, 103)
    axes.set_xlabel("size of the vocabulary, most frequent symbols first")
    axes.set_ylabel("share of the tokens covered, %")
    axes.set_title("How much of the text they cover", loc="left", fontsize=11)
    axes.legend(loc="upper left", fontsize=9, frameon=True, framealpha=0.9, edgecolor="none")


def thinned(count: int, most: int = POINTS) -> np.ndarray:
    """Ranks 1..count, or about `most` of them at even steps of log rank, both ends included."""
    if count <= most:
        return np.arange(1, count + 1)
    return np.unique(np.geomspace(1, count, most).round().astype(np.int64))


def _scale_ranks(axes: Any, count: int) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_xlim(0.85, max(count, 8) * 1.25)
    few = count < FEW
    axes.xaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5) if few else (1,), numticks=20))
    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "log":
            axis.set_major_formatter(FuncFormatter(_number))
            axis.set_minor_formatter(NullFormatter())


def _scale_counts(axes: Any, low: float, high: float) -> None:
    """Room for the names above, and at least one power of ten with its number."""
    if high < 10 * low:
        low, high = 10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high + 1))
    axes.set_ylim(0.6 * low, 2.5 * high)


def _number(value: float, _place: Any = None) -> str:
    """1, 1,000, 100,000, 1 M."""
    if value >= 1e6:
        return f"{value / 1e6:,.0f} M"
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _minus(number: float) -> str:
    return f"{number:.2f}".replace("-", "−")
