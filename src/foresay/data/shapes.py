"""Made pictures in colour: one circle, square, triangle or cross on a grey ground, 12 x 12; labelled by its shape.

Where it stands, how large it is, its colour (one of six) and the grey are drawn by the seed. A pixel belongs to the
shape where its centre lies inside.
"""

from __future__ import annotations

import functools

import numpy as np

SIDE = 12
COUNTS = {"train": 2_400, "valid": 300, "test": 300}
SHAPES = ("circle", "cross", "square", "triangle")
COLOURS = ((210, 40, 40), (40, 160, 60), (40, 70, 210), (230, 190, 30), (160, 50, 180), (30, 180, 190))
RADII = (2.5, 3.0, 3.5, 4.0)


@functools.lru_cache(maxsize=2)
def shapes(seed: int) -> dict[str, list[tuple[np.ndarray, str]]]:
    """Train, valid and test of a seed: pictures (12, 12, 3) of 0 .. 255 and the shape."""
    draw = np.random.default_rng([seed, 12])
    return {name: [_drawn(draw) for _ in range(count)] for name, count in COUNTS.items()}


def _drawn(draw: np.random.Generator) -> tuple[np.ndarray, str]:
    shape, colour = SHAPES[draw.integers(len(SHAPES))], COLOURS[draw.integers(len(COLOURS))]
    radius = RADII[draw.integers(len(RADII))]
    row, column = draw.uniform(radius, SIDE - radius, 2)
    down, right = np.mgrid[:SIDE, :SIDE] + 0.5
    down, right = down - row, right - column
    image = np.full((SIDE, SIDE, 3), draw.integers(12, 16) * 16, np.uint8)
    image[inside(shape, down, right, radius)] = colour
    return image, shape


def inside(shape: str, down: np.ndarray, right: np.ndarray, radius: float) -> np.ndarray:
    """Which places, given from the middle of a shape, belong to it."""
    across, along = np.abs(right), np.abs(down)
    if shape == "circle":
        return across**2 + along**2 <= radius**2
    if shape == "square":
        return np.maximum(across, along) <= 0.85 * radius
    if shape == "triangle":  # its top above, its sides falling by 2 to 1
        return (down <= radius) & (down >= -radius) & (2 * across <= down + radius)
    return (np.maximum(across, along) <= radius) & (np.minimum(across, along) <= 0.3 * radius)
