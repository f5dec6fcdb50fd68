"""Labels that do not overlap: one after the other, each at the first of eight places beside its point that is free.

Free is what covers no label placed before, no point, and lies within the edges. A label that fits nowhere is left out.
All in pixels; a box is (left, bottom, right, top).

points (N, 2), sizes (N, 2) -> centres of the labels (N, 2), not a number where one is left out.
"""

from __future__ import annotations

import numpy as np

# Right, left, above, below, then the corners: in steps of half the label's size from the point
SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
CORNER = 0.7  # of the gap in each direction, so that a corner is as near as a side


def place_labels(
    points: np.ndarray, sizes: np.ndarray, order: np.ndarray, edges: np.ndarray, radius: float, gap: float
) -> np.ndarray:
    """Places labels of `sizes` beside `points`, in `order`; `radius` is a point's, `gap` is kept free around all."""
    centres = np.full(points.shape, np.nan)
    taken = np.vstack([np.hstack([points - radius, points + radius]), np.empty((len(order), 4))])
    number = len(points)
    for word in order:
        centre, size = points[word], sizes[word]
        near = overlaps(_box(centre, 2 * (size + radius + gap)), taken[:number])
        near[word] = False  # its own point
        blocks = taken[:number][near]
        for at in _candidates(centre, size, radius + gap):
            box = _box(at, size)
            inside = (box[:2] >= edges[:2]).all() and (box[2:] <= edges[2:]).all()
            if inside and not overlaps(box, blocks).any():
                centres[word], taken[number] = at, box
                number += 1
                break
    return centres


def overlaps(box: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Which of the others (M, 4) a box (4,) covers in part; to touch is not to cover."""
    left, bottom, right, top = others.T
    return (box[0] < right) & (left < box[2]) & (box[1] < top) & (bottom < box[3])


def _box(centre: np.ndarray, size: np.ndarray) -> np.ndarray:
    return np.concatenate([centre - size / 2, centre + size / 2])


def _candidates(point: np.ndarray, size: np.ndarray, away: float) -> list[np.ndarray]:
    """The centres to try."""
    steps = np.array(SIDES, np.float64)
    reach = np.where((steps != 0).all(1), CORNER * away, away)
    return list(point + steps * (size / 2 + reach[:, None]))
