"""Bars side by side with a dot for every seed: pictures of claims that compare a few readers."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from foresay.study.claims.words_picture import GREY, LOOKS, plain, sheet

NARROW = 0.2  # of a bar: no room for a sign


def draw(found: Mapping[str, Mapping[str, Sequence[float]]], title: str, up: str, levels: Mapping[str, float]) -> Any:
    """A picture of bars of % alone."""
    picture, (axes,) = sheet(1)
    put(axes, found, levels)
    axes.set_ylabel(up)
    plain(axes, title)
    return picture


def put(axes: Any, found: Mapping[str, Mapping[str, Sequence[float]]], levels: Mapping[str, float]) -> None:
    """found[colour][group]: % of every seed. `levels`: what lies where across the panel."""
    wide = 0.76 / len(found)
    for at, ((name, groups), (colour, _)) in enumerate(zip(found.items(), LOOKS, strict=False)):
        for place, values in enumerate(groups.values()):
            middle, mean = place + wide * (at - (len(found) - 1) / 2), statistics.fmean(values)
            axes.bar(middle, mean, 0.95 * wide, color=colour, alpha=0.55, label=name if place == 0 else None)
            axes.plot(side_by_side(middle, 0.55 * wide, len(values)), values, ".", color=colour)
            label = f"{mean:.0f} %" if wide > NARROW else f"{mean:.0f}"
            axes.text(middle, max(values) + 2.5, label, ha="center", fontsize=None if wide > NARROW else 8)
    for name, level in levels.items():
        axes.axhline(level, color=GREY, linestyle="--", linewidth=1, label=name)
    groups = list(next(iter(found.values())))
    axes.set_xticks(range(len(groups)), groups)
    axes.set_ylim(0, 125)
    axes.set_yticks(range(0, 101, 20))
    axes.legend(frameon=False, loc="upper right", ncols=3)


def side_by_side(middle: float, wide: float, number: int) -> list[float]:
    """Where so many dots stand."""
    return [middle + wide * (n / max(number - 1, 1) - 0.5) for n in range(number)]
