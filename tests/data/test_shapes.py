"""Made pictures: where a shape is by hand, and that what is drawn is of its label."""

from __future__ import annotations

import numpy as np
import pytest

from foresay.data.shapes import COLOURS, COUNTS, SHAPES, inside, shapes

HAND = {  # of radius 2, from the middle of 5 x 5 pixels
    "circle": ["..#..", ".###.", "#####", ".###.", "..#.."],
    "square": [".....", ".###.", ".###.", ".###.", "....."],
    "triangle": ["..#..", "..#..", ".###.", ".###.", "#####"],
    "cross": ["..#..", "..#..", "#####", "..#..", "..#.."],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_inside_by_hand(shape: str) -> None:
    down, right = np.mgrid[-2:3, -2:3].astype(float)
    found = ["".join(".#"[int(one)] for one in row) for row in inside(shape, down, right, 2.0)]
    assert found == HAND[shape]


def test_two_colours_a_picture() -> None:
    parts = shapes(1)
    assert {name: len(rows) for name, rows in parts.items()} == COUNTS
    for image, label in parts["train"][:200]:
        assert image.shape == (12, 12, 3) and image.dtype == np.uint8 and label in SHAPES
        found = {tuple(map(int, pixel)) for pixel in image.reshape(-1, 3)}
        assert len(found) == 2 and len(found & set(COLOURS)) == 1
        (ground,) = found - set(COLOURS)
        assert len(set(ground)) == 1 and 192 <= ground[0] < 256
    assert {label for _, label in parts["test"]} == set(SHAPES)
    again = shapes.__wrapped__(1)["test"]
    assert all(np.array_equal(a, b) and x == y for (a, x), (b, y) in zip(parts["test"], again, strict=True))
