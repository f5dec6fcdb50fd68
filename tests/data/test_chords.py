"""The made music follows its arrows, and its least loss is that of the chain."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from foresay.data.chords import COUNTS, NEXT, NOTES, PLACE, STEPS, chords, least


def heard(roll: np.ndarray) -> tuple[int, list[str]]:
    """The key and the chords of a piece: the only key in which all are known."""
    found = []
    for key in range(12):
        names = [
            [name for name, notes in NOTES.items() if set(np.flatnonzero(step)) == {PLACE + key + one for one in notes}]
            for step in roll
        ]
        if all(names):
            found.append((key, [one for (one,) in names]))
    (only,) = found
    return only


def test_every_piece_follows_the_arrows() -> None:
    pieces = [heard(roll) for roll, begin in chords(1)["train"] if begin == 0]
    assert len(pieces) == COUNTS["train"] and {key for key, _ in pieces} == set(range(12))
    moves = Counter(move for _, names in pieces for move in pairwise(names))
    assert {one: tuple(sorted(other for own, other in moves if own == one)) for one in NEXT} == {
        one: tuple(sorted(others)) for one, others in NEXT.items()
    }
    for one, others in NEXT.items():
        shares = np.array([moves[one, other] for other in others]) / sum(moves[one, other] for other in others)
        assert shares == pytest.approx(1 / len(others), abs=0.03)
    told = [math.log(len(NEXT[one])) for _, names in pieces for one in names[:-1]]
    assert np.mean(told) == pytest.approx(least(), abs=0.02)
    assert {len(names) for _, names in pieces} == {STEPS}


def test_keys_are_notes_of_their_scale() -> None:
    """C, E, G and C above C2 is the first chord in C: MIDI 36, 52, 55, 60."""
    assert [21 + PLACE + note for note in NOTES["I"]] == [36, 52, 55, 60]
    scale = {0, 2, 4, 5, 7, 9, 11}
    assert all(note % 12 in scale for notes in NOTES.values() for note in notes)
