"""Proposals: what each kind makes of a sequence, and log q forth and back against a count of many draws."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest

from foresay.decode.correct.listed import Listed
from foresay.decode.correct.moves import KINDS, Moves
from foresay.decode.correct.noise import Noise, Rates
from foresay.decode.correct.posterior import Posterior

X = ("a", "b", "c")


def moves(scorer, kinds=None, rates=None):
    noise = Noise([Listed(["a,bc"])], rates or Rates(0.2, 0.1, 0.1, 0.1)).build("abc")
    return Moves(Posterior(scorer, noise, X), kinds, 0.5)


def test_kinds_are_those_of_the_noise(scorer):
    assert moves(scorer).kinds == list(KINDS) and moves(scorer, rates=Rates(0.2)).kinds == ["substitution"]
    assert moves(scorer, rates=Rates(0.2, insert=0.1)).kinds == ["substitution", "deletion"]


@pytest.mark.parametrize("kinds", [["insertion"], ["deletion"]])
def test_a_move_without_its_way_back_is_none(scorer, kinds):
    assert moves(scorer, kinds).propose(X, random.Random(1)) is None
    assert moves(scorer, ["swap"]).propose(("a",), random.Random(1)) is None


@pytest.mark.parametrize("kind, places", [("substitution", 3), ("insertion", 1), ("deletion", 1), ("swap", 2)])
def test_q_is_how_often_it_is_drawn(scorer, kind, places):
    """`forth` leaves out the choice of a place where the length stays: it cancels. Swaps are all as likely."""
    made, draw, steps = moves(scorer), random.Random(3), 20_000
    drawn = [made.makers[kind](X, draw) for _ in range(steps)]
    times, forth = Counter(one.y for one in drawn if one), {one.y: math.exp(one.forth) for one in drawn if one}
    doubled = {X[:i] + X[i : i + 1] + X[i:] for i in range(3)} | {X}  # come from two places, or from three
    assert len(times) - (X in times) == {"substitution": 6, "insertion": 9, "deletion": 3, "swap": 2}[kind]
    for y in set(times) - doubled:
        assert times[y] / steps == pytest.approx(forth[y] / places, abs=0.015)


def test_the_way_back_is_q_from_there(scorer):
    """Deletion of what was put in, and the other way round."""
    made, draw = moves(scorer), random.Random(2)
    for _ in range(50):
        there = made.makers["deletion"](X, draw)
        assert there is not None
        again = [one for _ in range(200) if (one := made.makers["insertion"](there.y, draw)) and one.y == X]
        assert any(one.forth == pytest.approx(there.back) and one.back == pytest.approx(there.forth) for one in again)
