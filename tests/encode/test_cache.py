"""The cache of keys and values, slot by slot: positions, documents, room, rows that are picked."""

from __future__ import annotations

import torch

from foresay.encode import cache
from foresay.encode.encoder import State

LIKE = torch.empty(2, 0, dtype=torch.float64)
MASK = torch.tensor([[True, True, True], [True, False, False]])


def begun(capacity: int | None = None) -> State:
    return cache.begin(LIKE, 1, (1, 2), (1, 3), capacity)


def filled(capacity: int) -> State:
    """Two rows after three steps in slots 0 to 2; a key of row r and slot s is 10 r + s, its value 100 more."""
    state = begun(capacity)
    position, start = cache.places(3, None, state, None)
    state, low, high = cache.taken(state, position, start, None)
    assert (low, high) == (0, 3)
    number = torch.tensor([[0.0, 1, 2], [10, 11, 12]], dtype=torch.float64)[:, :, None, None]
    state["0"]["k"][:, :3], state["0"]["v"][:, :3] = number, number + 100
    return state


def keys(state: State, end: int) -> list[list[float]]:
    return cache.seen_from(state, state["0"]["k"], end)[:, :, 0, 0].tolist()


def test_it_begins_empty():
    state = begun()
    assert state["position"].tolist() == [0, 0] and state["at"].shape == (2, 0) and "rows" not in state
    assert state["0"]["k"].shape == (2, 0, 1, 2) and state["0"]["v"].shape == (2, 0, 1, 3)
    state = begun(4)
    assert state["at"].tolist() == [[-1] * 4] * 2 and state["rows"].tolist() == [[0] * 4, [1] * 4]
    assert state["0"]["v"].shape == (2, 4, 1, 3) and cache.used(state) == 0


def test_places_count_real_steps_and_documents():
    state = begun() | {"position": torch.tensor([4, 7]), "begun": torch.tensor([2, 0])}
    position, start = cache.places(3, None, state, None)
    assert position.tolist() == [[4, 5, 6], [7, 8, 9]] and start.tolist() == [[2] * 3, [0] * 3]
    starts = torch.tensor([[False, True, False], [False, True, False]])
    position, start = cache.places(3, MASK, state, starts)
    assert position.tolist() == [[4, 5, 6], [7, 7, 7]]  # padding stays at the last real step
    assert start.tolist() == [[2, 5, 5], [0, 0, 0]]  # and begins no document
    after = cache.extended(state, position, start, MASK)
    assert after["position"].tolist() == [7, 8] and after["begun"].tolist() == [5, 0]
    assert after["at"].tolist() == [[4, 5, 6], [7, -1, -1]]


def test_steps_are_written_where_they_stay_and_room_grows():
    state = filled(4)
    assert state["at"].tolist() == [[0, 1, 2, -1]] * 2 and cache.used(state) == 3
    assert cache.with_room(state, 1) is state
    position, start = cache.places(2, None, state, None)
    wide, low, high = cache.taken(state, position, start, None)
    assert (low, high) == (3, 5) and wide["at"].tolist() == [[0, 1, 2, 3, 4, -1]] * 2  # twice as many as were taken
    assert wide["position"].tolist() == [5, 5] and keys(wide, 3) == [[0, 1, 2], [10, 11, 12]]


def test_picked_rows_share_the_cache_or_get_their_own():
    state = filled(4)
    swapped = cache.reordered(state, torch.tensor([1, 1]))
    assert swapped["0"]["k"] is state["0"]["k"] and keys(swapped, 3) == [[10, 11, 12]] * 2
    three = cache.reordered(state, torch.tensor([1, 0, 1]))
    assert keys(three, 3) == [[10, 11, 12], [0, 1, 2], [10, 11, 12]] and three["rows"].tolist() == [
        [0] * 4,
        [1] * 4,
        [2] * 4,
    ]
    assert three["0"]["k"].shape == (3, 4, 1, 2) and three["0"]["v"][1, 2, 0].tolist() == [102.0] * 3


def test_a_window_keeps_each_row_s_last_real_slots():
    number = torch.tensor([[0.0, 1, 2], [10, 11, 12]])[:, :, None, None]
    state = begun() | {"at": torch.tensor([[4, 5, 6], [7, -1, -1]]), "0": {"k": number, "v": number}}
    kept = cache.last(state, 1)
    assert kept["at"].tolist() == [[6], [7]] and kept["0"]["k"].flatten().tolist() == [2.0, 10.0]
    assert cache.last(state, 3) is state
