"""Sounds as a picture: of each its samples over time and, below, how loud each pitch is (a spectrogram).

    S[t, f] = 20 log10 | sum_n w_n x_{t h + n} exp(-2 pi i f n / W) |      w Hann's window of W samples, h = W / 8

W is the power of two next to 32 ms. Shown are the 60 decibels below the loudest of each sound. Rows are labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from foresay.train.report import write_picture

WINDOW = 0.032  # seconds
RANGE = 60.0  # decibels
COLUMNS, ROWS = 4, 12  # sounds of a label, and labels, that there is room for
COLOUR = "#1f5fa8"
Sounds = Mapping[str | None, Sequence[np.ndarray]]  # label -> sounds


def spectrogram(samples: np.ndarray, rate: int) -> np.ndarray:
    """Decibels (frequencies, times), the loudest 0 and the quietest -60."""
    wide = max(2 ** round(np.log2(WINDOW * rate)), 8)
    padded = np.pad(np.asarray(samples, np.float64), (wide // 2, wide // 2 + wide))
    frames = np.lib.stride_tricks.sliding_window_view(padded, wide)[: len(samples) + 1 : wide // 8]
    power = np.abs(np.fft.rfft(frames * np.hanning(wide + 1)[:-1])) ** 2
    loudest = power.max() or 1.0
    return np.maximum(10 * np.log10(np.maximum(power / loudest, 1e-12)), -RANGE).T


def draw_waves(path: Path, sounds: Sounds, rate: int) -> None:
    """Some sounds of each label as .png."""
    from matplotlib.figure import Figure

    shown = {label: list(each)[:COLUMNS] for label, each in list(sounds.items())[:ROWS]}
    wide = max(map(len, shown.values()))
    longest = max((len(one) for each in shown.values() for one in each), default=1) / rate
    figure = Figure(figsize=(1.2 + 2.3 * wide, 0.4 + 1.5 * len(shown)), layout="constrained")
    panels = figure.subplots(2 * len(shown), wide, squeeze=False, height_ratios=[2, 3] * len(shown))
    for row, (label, each) in enumerate(shown.items()):
        for column in range(wide):
            above, below = panels[2 * row : 2 * row + 2, column]
            if column < len(each) and len(each[column]):
                _draw_one(above, below, each[column], rate, longest)
            else:
                above.set_axis_off()
                below.set_axis_off()
            if column:
                below.set_yticklabels([])
        title = "" if label is None else label
        if len(each) < len(sounds[label]):
            title += f"{' ' if title else ''}({len(each)} of {len(sounds[label])})"
        panels[2 * row, 0].set_title(title, loc="left", fontsize=9, parse_math=False)
        panels[2 * row + 1, 0].set_ylabel("kHz", fontsize=7)
    for axes in panels[1:-1:2].flat:
        axes.set_xticklabels([])
    for axes in panels[-1]:
        axes.set_xlabel("seconds", fontsize=7)
    if len(shown) < len(sounds):
        figure.suptitle(f"{len(shown)} of {len(sounds)} labels", x=0.01, ha="left", fontsize=9)
    write_picture(path, figure)


def _draw_one(above: Any, below: Any, samples: np.ndarray, rate: int, longest: float) -> None:
    """All of a picture have the same time below them, that of the longest."""
    extent = (0, len(samples) / rate, 0, rate / 2000)
    above.plot(np.arange(len(samples)) / rate, samples, color=COLOUR, linewidth=0.5)
    above.set_xlim(0, longest)
    above.set_ylim(-1.05, 1.05)
    above.set_axis_off()
    found = spectrogram(samples, rate)
    below.imshow(found, origin="lower", aspect="auto", extent=extent, cmap="magma", interpolation="nearest")
    below.set_xlim(0, longest)
    below.locator_params(axis="x", nbins=4)
    below.spines[["top", "right"]].set_visible(False)
    below.tick_params(labelsize=6)
