"""Labels: the first free place is taken, by hand, and nothing overlaps whatever the points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.study.maps.labels import overlaps, place_labels

EDGES = np.array([0.0, 0.0, 100.0, 100.0])


def place(points: list, sizes: list, order: list[int] | None = None) -> np.ndarray:
    chosen = np.array(order if order is not None else range(len(points)))
    return place_labels(np.array(points, float), np.array(sizes, float), chosen, EDGES, radius=2, gap=1)


def test_right_of_the_point_when_it_is_free():
    assert place([[50, 50]], [[20, 10]]).tolist() == [[50 + 3 + 10, 50]]


def test_the_other_sides_in_turn():
    """At the right edge: left. Between two points: above. In the upper right corner with a neighbour: below."""
    assert place([[95, 50]], [[20, 10]]).tolist() == [[95 - 3 - 10, 50]]
    assert place([[50, 50], [60, 50], [40, 50]], [[20, 10]] * 3)[0].tolist() == [50, 50 + 3 + 5]
    assert place([[95, 97], [85, 97]], [[8, 10]] * 2, [0])[0].tolist() == [95, 97 - 3 - 5]


def test_the_first_in_order_gets_the_place():
    """Both want the right; the one that comes later goes to the left."""
    for first in (0, 1):
        found = place([[50, 50], [50, 51]], [[30, 10]] * 2, [first, 1 - first])
        assert found[first, 0] == 50 + 3 + 15 and found[1 - first, 0] == 50 - 3 - 15


def test_what_fits_nowhere_is_left_out():
    """Large labels of points in one place: one at the right, one at the left, and no more."""
    found = place([[50, 50]] * 20, [[30, 30]] * 20)
    assert found[:2].tolist() == [[68, 50], [32, 50]] and np.isnan(found[2:]).all()


def test_too_large_for_the_map_is_left_out():
    assert np.isnan(place([[50, 50]], [[101, 10]])).all()


def test_only_what_is_in_order_is_placed():
    assert np.isfinite(place([[20, 20], [80, 80]], [[9, 9]] * 2, [1])).tolist() == [[False] * 2, [True] * 2]


@pytest.mark.parametrize(
    ("box", "covers"),
    [
        ((0, 0, 2, 2), True),
        ((9, 9, 12, 12), True),
        ((2, 2, 4, 4), True),
        ((-5, -5, 20, 20), True),
        ((10, 0, 12, 10), False),  # touches
        ((0, 11, 10, 12), False),
    ],
)
def test_overlaps_by_hand(box: tuple, covers: bool):
    assert overlaps(np.array([0.0, 0, 10, 10]), np.array([box], float)).tolist() == [covers]


@given(st.lists(st.tuples(*[st.floats(0, 100)] * 2, *[st.floats(1, 40)] * 2), min_size=1, max_size=25))
def test_nothing_overlaps(drawn: list[tuple]):
    points, sizes = np.array(drawn)[:, :2], np.array(drawn)[:, 2:]
    centres = place(points.tolist(), sizes.tolist())
    kept = np.flatnonzero(np.isfinite(centres[:, 0]))
    boxes = np.hstack([centres - sizes / 2, centres + sizes / 2])
    for place_of in kept:
        others = boxes[kept[kept != place_of]]
        assert not overlaps(boxes[place_of], others).any()
        assert not overlaps(boxes[place_of] + [1e-9, 1e-9, -1e-9, -1e-9], np.hstack([points - 2, points + 2])).any()
        assert (boxes[place_of, :2] >= 0).all() and (boxes[place_of, 2:] <= 100).all()
