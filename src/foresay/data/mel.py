"""Sounds as frames: how loud each band of pitches is, step by step, on a scale of ears (log-mel).

    S_t[k] = |sum_n w_n x_{t h + n} exp(-2 pi i k n / N)|^2 / sum_n w_n^2      w Hann's window of W samples, h the hop
    f_t[b] = ln(10^-7 + sum_k F_b[k] S_t[k])                                    N a power of 2, at least W and 512

F_b is a triangle over mel(f) = 2595 log10(1 + f / 700): the bands' edges stand evenly from 0 to half the rate, each
band reaches to the middles of its neighbours and sums to 1, so that white noise of variance s^2 has f = ln s^2 in all.
A sound of n samples has 1 + ceil((n - W) / h) frames, the last one filled up with silence, and one at least.

x (n,) -> f (T, bands)
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
import torch

from foresay.errors import UserError
from foresay.parts import Rate, Size

FLOOR = 1e-7
LEAST = 512  # points of a transform


@dataclass(frozen=True)
class Reading:
    """How recordings are read: their rate in Hz, silence at the ends, where their text is, and what frames are like."""

    rate: Size | None = None
    trim: Rate | None = None
    label: int | None = None
    window: Rate = 0.025  # seconds
    hop: Rate = 0.01  # seconds from frame to frame
    bands: Size = 40


def frames_of(samples: np.ndarray, rate: int, how: Reading) -> np.ndarray:
    """The frames (T, bands) of samples of -1 .. 1."""
    wide, hop = sizes_of(rate, how)
    steps = 1 + max(-(-(len(samples) - wide) // hop), 0)
    whole = np.pad(samples.astype(np.float32), (0, wide + (steps - 1) * hop - len(samples)))
    window, points = torch.hann_window(wide), points_of(wide)
    shifted = torch.from_numpy(whole).unfold(0, wide, hop) * window
    power = torch.fft.rfft(shifted, points).abs() ** 2 / (window**2).sum()
    return torch.log(FLOOR + power @ filters(rate, points, how.bands)).numpy()


def sizes_of(rate: int, how: Reading) -> tuple[int, int]:
    """The samples of a window and of a hop; refused where they are too few."""
    wide, hop = round(how.window * rate), round(how.hop * rate)
    if wide < 2 or hop < 1:
        name, given, least = ("window", how.window, 2) if wide < 2 else ("hop", how.hop, 1)
        raise UserError(
            f"data.{name}={given:g} seconds at {rate:,} Hz; allowed: {least / rate:g} or more, such as 0.025 for the "
            "window and 0.01 for the hop"
        )
    filters(rate, points_of(wide), how.bands)
    return wide, hop


def points_of(wide: int) -> int:
    return max(2 ** math.ceil(math.log2(wide)), LEAST)


@functools.lru_cache(maxsize=8)
def filters(rate: int, points: int, bands: int) -> torch.Tensor:
    """F as columns, (N / 2 + 1, bands)."""
    edges = edges_of(rate, bands)
    pitches = np.arange(points // 2 + 1) * rate / points
    rising = (pitches[:, None] - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - pitches[:, None]) / (edges[2:] - edges[1:-1])
    found = np.maximum(np.minimum(rising, falling), 0.0)
    if not found.any(0).all():
        most = next(fewer for fewer in range(bands - 1, 0, -1) if np.diff(edges_of(rate, fewer)).min() > rate / points)
        raise UserError(f"data.bands={bands} at {rate:,} Hz are too narrow to hold a pitch each; allowed: 1 to {most}")
    return torch.from_numpy((found / found.sum(0)).astype(np.float32))


def edges_of(rate: int, bands: int) -> np.ndarray:
    """The pitches in Hz where bands begin, culminate and end: bands + 2, evenly by mel."""
    mel = np.linspace(0.0, 2595 * math.log10(1 + rate / 2 / 700), bands + 2)
    return 700 * (10 ** (mel / 2595) - 1)


def names_of(rate: int, bands: int) -> tuple[str, ...]:
    """What the columns of frames are called: the middles of the bands."""
    return tuple(f"{pitch:.1f} Hz" for pitch in edges_of(rate, bands)[1:-1])
