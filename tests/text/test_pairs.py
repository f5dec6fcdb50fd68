"""Pairs of neighbours, counted in bounded memory."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from foresay.text.pairs import Pairs, keys

PAIR = st.tuples(st.integers(0, 3), st.integers(2**31 - 2, 2**31 - 1))


@given(stretches=st.lists(st.lists(PAIR, max_size=6), max_size=6))
def test_counts_are_those_of_counting_one_by_one(stretches):
    pairs = Pairs(most=8)  # as many as there can be
    for stretch in stretches:
        table = np.array(stretch, np.int64).reshape(-1, 2)
        pairs.add(keys(table[:, 0], table[:, 1]))
    found, often = pairs.counted()
    expected = Counter(pair for stretch in stretches for pair in stretch)
    assert list(zip(found.tolist(), often.tolist(), strict=True)) == sorted(
        ((a << 32) + b, n) for (a, b), n in expected.items()
    )


def test_the_rarest_are_dropped_and_the_frequent_kept():
    pairs = Pairs(most=50)
    for i in range(1000):
        pairs.add(np.array([7, 7, 7, 8, 8, 1000 + i]))
        assert len(pairs.keys) <= 50 and sum(map(len, pairs.waiting)) <= 50
    found, often = pairs.counted()
    assert found[:2].tolist() == [7, 8] and often[:2].tolist() == [3000, 2000] and len(found) <= 50
