"""Made series of 240 months: a level, a trend, a season of twelve months and noise that remembers the month before.

    x_t = a + b t + c sin(2 pi (t + p) / 12) + e_t        e_t = 0.7 e_(t-1) + u_t,  u_t normal with deviation 1

a is drawn from 20 to 60, b from -0.1 to 0.1, c from 3 to 10 and p from the twelve months. Who knows all four of a
series predicts the next month to a deviation of 1, at 0.5 log(2 pi e) = 1.419 nats a step; no model does better.
"""

from __future__ import annotations

import functools

import numpy as np

STEPS, SEASON, MEMORY = 240, 12, 0.7
COUNTS = {"train": 60, "valid": 12, "test": 12}
LEAST = 0.5 * (1 + np.log(2 * np.pi))  # nats a step


@functools.lru_cache(maxsize=2)
def seasons(seed: int) -> dict[str, list[tuple[np.ndarray, int]]]:
    """Train, valid and test of a seed: series (240, 1); of valid and test the first ten years are there for context."""
    draw = np.random.default_rng([seed, 240])
    begins = {"train": 0, "valid": STEPS // 2, "test": STEPS // 2}
    return {name: [(_drawn(draw), begins[name]) for _ in range(count)] for name, count in COUNTS.items()}


def _drawn(draw: np.random.Generator) -> np.ndarray:
    level, slope, size = draw.uniform(20, 60), draw.uniform(-0.1, 0.1), draw.uniform(3, 10)
    months, begun = np.arange(STEPS), draw.integers(SEASON)
    noise, normal = np.zeros(STEPS), draw.normal(size=STEPS)
    noise[0] = normal[0] / np.sqrt(1 - MEMORY**2)
    for t in range(1, STEPS):
        noise[t] = MEMORY * noise[t - 1] + normal[t]
    found = level + slope * months + size * np.sin(2 * np.pi * (months + begun) / SEASON) + noise
    return found[:, None].astype(np.float32)
