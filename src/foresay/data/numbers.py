"""Rows of two to five handwritten digits -> the number as a text; the digits are scikit-learn's, of 8 x 8 pixels.

A picture is 8 pixels high. Between digits 0 to 2 columns of black are drawn. The digits of valid and of test stand in
no picture of train, as `builtin:digits` divides them.
"""

from __future__ import annotations

import functools
import random

import numpy as np

from foresay.data.digits import digits

SIZES = {"train": 8000, "valid": 500, "test": 500}
FEWEST, MOST, GAP = 2, 5, 2


@functools.lru_cache(maxsize=2)
def numbers(seed: int) -> dict[str, list[tuple[np.ndarray, str]]]:
    """Train, valid and test of a seed."""
    found = {}
    for name, each in digits(seed).items():
        draw = random.Random(f"numbers {seed} {name}")
        found[name] = [_row(draw.choices(each, k=draw.randint(FEWEST, MOST)), draw) for _ in range(SIZES[name])]
    return found


def _row(some: list[tuple[np.ndarray, str]], draw: random.Random) -> tuple[np.ndarray, str]:
    pieces = []
    for image, _ in some:
        pieces += [np.zeros((len(image), draw.randint(0, GAP)), np.uint8), image]
    return np.concatenate(pieces[1:], 1), "".join(label for _, label in some)
