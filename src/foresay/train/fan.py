"""Series as pictures: forecasts as a fan over what came before and after, keys of piano rolls over time, films.

A fan's steps are counted from its point: 1 is the first that is forecast, 0 the last that was given. Of its quantiles
the least and the greatest hold a band, so do the two within, and what is left over in the middle is a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from foresay.train.report import write_picture

PANELS = 6  # that there is room for
FRAMES = 16  # of a film
BEFORE = 4  # times the steps that are forecast are shown of what came before, 24 at least
INK, COLOUR, TRUTH = "#333333", "#0072B2", "#D55E00"
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Fan:
    """One number of one series: what came before, the paths (N, steps) from there, and what came, where it is known."""

    name: str
    before: np.ndarray
    paths: np.ndarray
    came: np.ndarray | None = None


def draw_fans(path: Path, fans: Sequence[Fan], title: str, quantiles: Sequence[float] = QUANTILES) -> None:
    """The first few as .png."""
    from matplotlib.figure import Figure

    shown = list(fans)[:PANELS]
    wide = 1 if len(shown) == 1 else 2
    high = -(-len(shown) // wide)
    figure = Figure(figsize=(8 if wide == 1 else 11, 0.8 + 2.6 * high), layout="constrained")
    panels = list(figure.subplots(high, wide, squeeze=False).flat)
    for axes, fan in zip(panels, shown, strict=False):
        _draw_fan(axes, fan, sorted(set(quantiles)))
    for axes in panels[len(shown) :]:
        axes.set_axis_off()
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, frameon=False, fontsize=8, loc="outside lower center", ncols=4)
    title += f" ({len(shown)} of {len(fans)})" if len(fans) > len(shown) else ""
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, parse_math=False)
    write_picture(path, figure)


def _draw_fan(axes: Any, fan: Fan, quantiles: Sequence[float]) -> None:
    steps = fan.paths.shape[1]
    before = fan.before[-max(BEFORE * steps, 24) :]
    ahead, joined = np.arange(1, steps + 1), np.arange(steps + 1)
    axes.plot(np.arange(1 - len(before), 1), before, color=INK, linewidth=1.2)
    edges = np.quantile(fan.paths, quantiles, axis=0)
    edges = np.concatenate([np.repeat(before[-1:], len(quantiles))[:, None], edges], 1)
    bands = len(quantiles) // 2
    for low in range(bands):
        high = len(quantiles) - 1 - low
        name, dense = f"quantiles {quantiles[low]:g} to {quantiles[high]:g}", 0.18 + 0.12 * low / max(bands - 1, 1)
        axes.fill_between(joined, edges[low], edges[high], color=COLOUR, alpha=dense, linewidth=0, label=name)
    if len(quantiles) % 2:
        name = "median" if quantiles[bands] == 0.5 else f"quantile {quantiles[bands]:g}"
        axes.plot(joined, edges[bands], color=COLOUR, linewidth=1.6, label=name)
    if fan.came is not None:
        axes.plot(ahead[: len(fan.came)], fan.came, color=TRUTH, linewidth=1.2, linestyle="--", label="what came")
    axes.set_title(fan.name, loc="left", fontsize=9, parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.tick_params(labelsize=8)
    axes.locator_params(axis="x", integer=True)
    axes.ticklabel_format(axis="y", useOffset=False)
    axes.set_xlabel("steps ahead", fontsize=8)


def draw_rolls(path: Path, rolls: Sequence[np.ndarray], first: int, title: str) -> None:
    """Piano rolls (T, D) as .png, a panel each; `first` is the MIDI number of the first column."""
    from matplotlib.figure import Figure

    shown = list(rolls)[:PANELS]
    figure = Figure(figsize=(10, 0.6 + 1.7 * len(shown)), layout="constrained")
    sounding = np.flatnonzero(np.concatenate(shown).any(0))
    low, high = (int(sounding[0]), int(sounding[-1])) if len(sounding) else (0, shown[0].shape[1] - 1)
    for axes, roll in zip(figure.subplots(len(shown), 1, squeeze=False)[:, 0], shown, strict=True):
        extent = (0, len(roll), first + low - 0.5, first + high + 0.5)
        keys = roll[:, low : high + 1].T
        axes.imshow(keys, origin="lower", aspect="auto", cmap="Blues", interpolation="nearest", extent=extent)
        octaves = [key for key in range(first + low, first + high + 1) if key % 12 == 0]
        axes.set_yticks(octaves, [f"C{key // 12 - 1}" for key in octaves])
        axes.grid(axis="y", alpha=0.4)
        axes.tick_params(labelsize=8)
    figure.axes[-1].set_xlabel("step", fontsize=8)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, parse_math=False)
    write_picture(path, figure)


def draw_films(path: Path, films: Sequence[tuple[str, np.ndarray]], title: str) -> None:
    """Films (T, rows, columns) of named rows as .png, their frames side by side."""
    from matplotlib.figure import Figure

    shown = [(name, film[:FRAMES]) for name, film in list(films)[:PANELS]]
    wide = max(len(film) for _, film in shown)
    least, most = min(float(film.min()) for _, film in shown), max(float(film.max()) for _, film in shown)
    figure = Figure(figsize=(0.5 + 0.75 * wide, 0.6 + 1.0 * len(shown)), layout="constrained")
    for row, (name, film) in zip(figure.subplots(len(shown), wide, squeeze=False), shown, strict=True):
        for number, axes in enumerate(row):
            axes.set_axis_off()
            if number < len(film):
                axes.imshow(
                    film[number], cmap="Blues", vmin=least, vmax=max(most, least + 1e-9), interpolation="nearest"
                )
        row[0].set_title(name, loc="left", fontsize=8, parse_math=False)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, parse_math=False)
    write_picture(path, figure)
