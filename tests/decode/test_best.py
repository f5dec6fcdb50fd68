"""The k largest, the lowest place first among equals."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from foresay.decode.best import largest


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, -torch.inf]), min_size=1, max_size=12), st.integers(1, 14))
def test_as_a_stable_sort(row, number):
    values = torch.tensor([row, row[::-1]])
    found, places = largest(values, number)
    for own, at, whole in zip(found.tolist(), places.tolist(), values.tolist(), strict=True):
        order = sorted(range(len(whole)), key=lambda place: (-whole[place], place))[:number]
        assert at == order and own == [whole[place] for place in order]
