"""Samples at another rate: the band-limited signal between them, by a windowed sinc, a block at a time.

    y_m = sum_n x_n h(m D / U - n)          U / D = wanted / given rate, in lowest terms
    h(t) = c sinc(c t) kaiser(t c / Z)      c = 0.94 min(1, U / D), Z = 32 crossings of zero to each side, beta = 9

h is needed at U phases m D / U mod 1 only, a row of a table each; each row sums to 1. Below 0.8 of the narrower
band the gain is 1 within 1e-3, what lies above the new one is 80 dB down. N samples become ceil(N U / D).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

CROSSINGS, BETA, CUT = 32, 9.0, 0.94
AT_ONCE = 2**13  # samples made at a time


def resampled(blocks: Iterable[np.ndarray], given: int, wanted: int) -> Iterator[np.ndarray]:
    """Blocks of samples (n,) of one rate as blocks of another."""
    if given == wanted:
        yield from blocks
        return
    up, down = wanted // math.gcd(given, wanted), given // math.gcd(given, wanted)
    taps = table(up, down)
    half = taps.shape[1] // 2
    held, first = np.zeros(half - 1, np.float32), 1 - half  # what is still needed, and the number of its first sample
    count = done = 0
    for block in chain(blocks, [None]):
        count += 0 if block is None else len(block)
        held = np.concatenate([held, np.zeros(half, np.float32) if block is None else block])
        ready = -(-(first + len(held) - half) * up // down)  # samples whose taps all lie in what came
        for begin in range(done, ready, AT_ONCE):
            made = np.arange(begin, min(begin + AT_ONCE, ready), dtype=np.int64) * down
            windows = np.lib.stride_tricks.sliding_window_view(held, 2 * half)[made // up - half + 1 - first]
            yield np.einsum("mt,mt->m", windows, taps[made % up])
        done = max(done, ready)
        spare = min(max(done * down // up - half + 1 - first, 0), len(held))
        held, first = held[spare:], first + spare


def table(up: int, down: int) -> np.ndarray:
    """The taps (U, 2 W) of every phase p: of the samples -W+1 .. W around a place p / U behind sample 0."""
    cut = CUT * min(1.0, up / down)
    half = math.ceil(CROSSINGS / cut)
    t = np.arange(up)[:, None] / up - np.arange(1 - half, half + 1)
    inside = np.maximum(1 - (t * cut / CROSSINGS) ** 2, 0)
    taps = np.sinc(cut * t) * np.i0(BETA * np.sqrt(inside)) * (inside > 0)
    return (taps / taps.sum(1, keepdims=True)).astype(np.float32)
