"""Lines with intervals over seeds, in panels: the pictures of most claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foresay.study.claims.claim import interval

# Okabe and Ito's colours, which people who confuse red and green can tell apart; the marks say the same
LOOKS = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#CC79A7", "D"), ("#E69F00", "v"), ("#56B4E9", "P"))
GREY = "#5A5A5A"


@dataclass(frozen=True)
class Panel:
    """`lines` by name: x, and at each x a value of every seed. `levels`: what lies where across the panel."""

    title: str
    across: str
    up: str
    lines: Mapping[str, Mapping[Any, Sequence[float]]]
    levels: Mapping[str, float] = field(default_factory=dict)
    doubling: bool = False  # x on a scale of doublings
    ticks: Mapping[Any, str] = field(default_factory=dict)
    legend: str | tuple[float, float] = "best"
    bounds: tuple[float | None, float | None] = (None, None)
    powers: bool = False  # y on a scale of powers of ten
    over: str = "seeds"  # what the intervals are over


def draw(panels: Sequence[Panel]) -> Any:
    """matplotlib's figure."""
    picture, places = sheet(len(panels))
    for axes, panel in zip(places, panels, strict=True):
        for (name, line), look in zip(panel.lines.items(), LOOKS, strict=False):
            _draw_line(axes, name, line, look)
        _finish(axes, panel)
    return picture


def sheet(panels: int) -> tuple[Any, list[Any]]:
    """A figure and its empty panels, with room for a line below."""
    from matplotlib.figure import Figure as Picture

    picture = Picture(figsize=({1: 8, 2: 11.5}.get(panels, 4.9 * panels), 5), layout="constrained")
    picture.get_layout_engine().set(rect=(0, 0.04, 1, 0.96))  # pyright: ignore[reportOptionalMemberAccess, reportCallIssue]
    return picture, list(picture.subplots(1, panels, squeeze=False)[0])


def plain(axes: Any, title: str) -> None:
    axes.set_title(title, loc="left", fontweight="bold")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.7)
    axes.set_axisbelow(True)


def _draw_line(axes: Any, name: str, line: Mapping[Any, Sequence[float]], look: tuple[str, str]) -> None:
    colour, mark = look
    found = [interval(values) if len(values) > 1 else (values[0],) * 3 for values in line.values()]
    middle, low, high = zip(*found, strict=True)
    below, above = ([abs(a - b) for a, b in zip(middle, end, strict=True)] for end in (low, high))
    ends = [below, above] if any([*below, *above]) else None  # no caps where there is no interval
    axes.errorbar(
        list(line), middle, yerr=ends, label=name, color=colour, marker=mark, markersize=6, capsize=4,
        linewidth=2, elinewidth=1.3,
    )  # fmt: skip


def _finish(axes: Any, panel: Panel) -> None:
    if panel.doubling:
        axes.set_xscale("log", base=2)
    if panel.powers:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    if panel.ticks:
        axes.set_xticks(list(panel.ticks), list(panel.ticks.values()))
        axes.minorticks_off()
    for name, level in panel.levels.items():
        axes.axhline(level, color=GREY, linestyle="--", linewidth=1)
        axes.annotate(name, (1, level), xycoords=("axes fraction", "data"), xytext=(-2, -3), textcoords="offset points",
                      ha="right", va="top", color=GREY, fontsize=8.5)  # fmt: skip
    axes.set_ylim(*panel.bounds)
    axes.set_xlabel(panel.across)
    axes.set_ylabel(panel.up)
    plain(axes, panel.title)
    if len(panel.lines) > 1:
        several = any(len(values) > 1 for line in panel.lines.values() for values in line.values())
        title = f"95 % interval over {panel.over}" if several else None
        axes.legend(frameon=False, loc=panel.legend, fontsize=9, title=title, alignment="left")
