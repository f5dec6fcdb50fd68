"""Which rows make which batch: none much less than half full, every row once an epoch, shapes that repeat."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from foresay.data.shuffled import Shuffled, distinct_rows, join_small, rows_within


def epoch(order: Shuffled, number: int = 0) -> list:
    return [order.draw(number * order.per_epoch + step) for step in range(order.per_epoch)]


def test_distinct_rows_in_order() -> None:
    own, which = distinct_rows(np.array([[8, 4], [4, 8], [8, 4], [4, 4]]))
    assert own.tolist() == [[4, 4], [4, 8], [8, 4]] and which.tolist() == [2, 1, 2, 0]


def test_a_small_bucket_goes_where_it_costs_the_least_padding() -> None:
    """Of 64 tokens a batch has 16 rows of 4 or 8 of 8. The 3 rows of (4, 4) would cost 12 in (4, 8) or (8, 4)."""
    widths, into = join_small(np.array([[4, 4], [4, 8], [8, 8]]), np.array([3, 8, 8]), 64)
    assert widths.tolist() == [[4, 8], [8, 8]] and into.tolist() == [0, 0, 1]


def test_two_small_buckets_make_one_that_is_as_wide_as_both() -> None:
    widths, into = join_small(np.array([[4, 8], [8, 4]]), np.array([2, 2]), 64)
    assert widths.tolist() == [[8, 8]] and into.tolist() == [0, 0]


def test_what_would_cost_more_than_a_batch_stays_alone() -> None:
    """One row of 64 would widen 9 rows of 4 by 540 places."""
    widths, into = join_small(np.array([[4], [64]]), np.array([9, 1]), 128)
    assert widths.tolist() == [[4], [64]] and into.tolist() == [0, 1]


def test_a_bucket_is_shared_out_evenly() -> None:
    """9 rows of 8 in batches of 4: three of 3, not 4, 4 and 1; of 10 rows one batch has 4."""
    assert [len(drawn.rows) for drawn in epoch(Shuffled(np.full((9, 1), 8), 32, 1))] == [3, 3, 3]
    ten = epoch(Shuffled(np.full((10, 1), 8), 32, 1))
    assert sorted((len(drawn.rows), drawn.alike) for drawn in ten) == [(3, 2), (3, 2), (4, 1)]


def test_epochs_differ_in_order_not_in_shapes() -> None:
    order = Shuffled(np.repeat([[4], [8]], 20, 0), 32, 1)
    first, second = epoch(order), epoch(order, 1)
    assert [d.rows.tolist() for d in first] != [d.rows.tolist() for d in second]
    assert sorted((len(d.rows), *d.widths) for d in first) == sorted((len(d.rows), *d.widths) for d in second)
    assert [d.rows.tolist() for d in epoch(Shuffled(np.repeat([[4], [8]], 20, 0), 32, 1), 1)] == [
        d.rows.tolist() for d in second
    ]


@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=60),
    st.integers(1, 200),
    st.integers(0, 3),
)
def test_every_row_once_wide_enough_and_within_the_budget(sizes: list, tokens: int, seed: int) -> None:
    widths = np.array(sizes)
    order = Shuffled(widths, tokens, seed)
    drawn = epoch(order)
    assert sorted(row for one in drawn for row in one.rows.tolist()) == list(range(len(sizes)))
    for one in drawn:
        assert (widths[one.rows] <= one.widths).all()
        assert len(one.rows) <= rows_within(np.array([one.widths]), tokens)[0]
        assert one.alike == sum((len(other.rows), other.widths) == (len(one.rows), one.widths) for other in drawn)
