"""Made sounds: a quarter of a second at 4,000 Hz, of one of six kinds, its pitch and loudness drawn by the seed.

sine     a sin(p)                  falling   p' from high to low      p the phase, p' = 2 pi f / 4000 a sample
square   a sign(sin(p))            rising    p' from low to high
pluck    a exp(-t / 0.05 s) sin(p)           noise     a u, u uniform in -1 .. 1

f is drawn from 100 to 800 Hz, its logarithm evenly; the ends of a slide are an octave and a half apart. a is drawn from
0.2 to 0.9. The last 25 ms fade to silence evenly, so that an end can be heard coming.
"""

from __future__ import annotations

import functools

import numpy as np

RATE, SAMPLES = 4_000, 1_000
COUNTS = {"train": 1_200, "valid": 120, "test": 120}
KINDS = ("falling", "noise", "pluck", "rising", "sine", "square")
LOW, HIGH, SLIDE = 100.0, 800.0, 2.0**1.5
FADE = 100  # samples
DECAY = 0.05  # seconds in which a plucked sound falls to 1 / e


@functools.lru_cache(maxsize=2)
def tones(seed: int) -> dict[str, list[tuple[np.ndarray, str]]]:
    """Train, valid and test of a seed: samples of -1 .. 1 and the kind of sound."""
    draw = np.random.default_rng([seed, 44])
    return {name: [_drawn(draw) for _ in range(count)] for name, count in COUNTS.items()}


def _drawn(draw: np.random.Generator) -> tuple[np.ndarray, str]:
    kind, loudness = KINDS[draw.integers(len(KINDS))], draw.uniform(0.2, 0.9)
    pitch = float(np.exp(draw.uniform(np.log(LOW), np.log(HIGH))))
    shape = draw.uniform(-1, 1, SAMPLES) if kind == "noise" else wave(kind, pitch)
    shape[-FADE:] *= 1 - np.arange(1, FADE + 1) / FADE
    return (loudness * shape).astype(np.float32), kind


def wave(kind: str, pitch: float) -> np.ndarray:
    """A sound of a kind with loudness 1; a slide begins or ends at its pitch, whichever is lower."""
    t = np.arange(SAMPLES)
    along = t / SAMPLES if kind == "rising" else 1 - t / SAMPLES
    pitches = pitch * SLIDE**along if kind in ("rising", "falling") else np.full(SAMPLES, pitch)
    phase = 2 * np.pi * (np.cumsum(pitches) - pitches[0]) / RATE  # 0 at the first sample
    if kind == "square":
        return np.where(np.sin(phase) < 0, -1.0, 1.0)
    return np.sin(phase) * (np.exp(-t / (DECAY * RATE)) if kind == "pluck" else 1)
