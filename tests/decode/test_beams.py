"""The pieces of a beam search by hand: how a sequence is followed back, what is kept of a step, what goes on."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from foresay.decode import beams
from foresay.decode.beam import Beam
from foresay.decode.beams import NONE, Beams, Candidates, Told, Trail, followed_back, joined
from foresay.decode.search import Limits
from foresay.text.tokens import START, STOP
from tests.decode.models import told

A, B, C = 5, 6, 7


def pool(parents: list[int], ids: list[int], totals: list[float]) -> Candidates:
    met = torch.tensor([[[symbol == A] for symbol in ids]])
    return Candidates(
        torch.tensor([parents]), torch.tensor([ids]), torch.tensor([totals]) / 2, torch.tensor([totals]).double(), met
    )


def test_candidates_at_places():
    found = pool([0, 1, 1], [A, B, C], [-1.0, -2.0, -3.0]).at(torch.tensor([[2, 0]]))
    assert found.parents.tolist() == [[1, 0]] and found.ids.tolist() == [[C, A]]
    assert found.logs.tolist() == [[-1.5, -0.5]] and found.totals.tolist() == [[-3, -1]]
    assert found.met.tolist() == [[[False], [True]]]


def test_joined_side_by_side():
    found = joined([pool([0], [A], [-1.0]), pool([1, 2], [B, C], [-2.0, -3.0])])
    assert found.ids.tolist() == [[A, B, C]] and found.parents.tolist() == [[0, 1, 2]]
    assert found.met[0, :, 0].tolist() == [True, False, False]


def test_followed_back_through_its_parents():
    """Two slots, three steps: slot 1 of the last step came from slot 0, and that from slot 1."""
    steps = {
        "ids": np.array([[[A, B]], [[C, A]], [[B, C]]]),
        "parents": np.array([[[0, 0]], [[1, 0]], [[1, 0]]]),
        "logs": np.array([[[-1.0, -2.0]], [[-3.0, -4.0]], [[-5.0, -6.0]]]),
        "stops": np.array([[[-0.1, -0.2]], [[-0.3, -0.4]], [[-0.5, -0.6]]]),
    }
    ended = followed_back(steps, 0, place=2 * 2 + 0, score=-7.0)  # after two symbols, from slot 0
    assert (ended.ids, ended.log_probs, ended.score, ended.finished) == ([B, C], [-2.0, -3.0, -0.5], -7.0, True)
    cut = followed_back(steps, 0, place=3 * 2 + 1, score=-9.0)
    assert (cut.ids, cut.log_probs, cut.finished) == ([B, C, C], [-2.0, -3.0, -6.0], False)


def test_room_for_steps_grows(monkeypatch: pytest.MonkeyPatch):
    """Two at first, then four: what was noted stays."""
    monkeypatch.setattr(beams, "BLOCK", 2)
    held = Told.of(10, torch.zeros(1, 2, dtype=torch.float64))
    assert len(held.ids) == 2
    for step in range(3):
        real = torch.full((1, 2), -float(step))
        held.note(torch.tensor([step]), pool([0, 1], [A + step, B], [-1.0, -2.0]), real, real / 4)
    assert len(held.ids) == 4 and held.ids[:3, 0, 0].tolist() == [A, B, C]
    assert held.last("scores", torch.tensor([2])).tolist() == [[-2, -2]]
    assert held.last("stops", torch.tensor([1])).tolist() == [[-0.25, -0.25]]


TREE = {
    START: {A: 0.5, B: 0.3, STOP: 0.2},
    A: {A: 0.1, B: 0.3, STOP: 0.6},
    B: {A: 0.9, STOP: 0.1},
}


def test_one_step_by_hand():
    """Width 2: of A .5, B .3 and the end .2 the two best go on; the end is third and does not leave the beam."""
    trail = Trail()
    search = Beams(Beam(width=2), told(TREE), [[]], Limits(3), trail)
    assert search.totals.tolist() == [[0.0, NONE]]
    search._extend()
    looked, chosen, ends = trail.steps[0]
    assert chosen.ids.tolist() == [[A, B]] and chosen.parents.tolist() == [[0, 0]]
    assert chosen.totals[0].tolist() == pytest.approx([math.log(0.5), math.log(0.3)])
    assert ends.step == 0 and (ends.scores == NONE).all() and A in looked.ids[0].tolist()
    search._go_on()
    torch.testing.assert_close(search.log_probs.exp(), told(TREE).table[[A, B]].exp())


def test_the_search_by_hand():
    """A end = .5 * .6 = .3 is best, then the end at once, .2; B A end = .3 * .9 * .6 = .162 is third. All is clear."""
    (found,), sure = Beams(Beam(width=3, best=2), told(TREE), [[]], Limits(3), None).run()
    assert [(one.ids, one.finished) for one in found] == [([A], True), ([], True)]
    assert [math.exp(one.score) for one in found] == pytest.approx([0.3, 0.2]) and sure == [True]


def test_a_required_symbol_has_places_of_its_own():
    """B must be there: B A end = .162 beats A B end = .015, and what lacks B is no result."""
    (found,), _ = Beams(Beam(width=3, best=2), told(TREE), [[]], Limits(2, required=(B,)), None).run()
    assert all(B in one.ids for one in found) and found[0].ids == [B, A]
    assert math.exp(found[0].score) == pytest.approx(0.27) and not found[0].finished


def test_a_tie_is_not_sure():
    even = {START: {A: 0.4, B: 0.4, STOP: 0.2}, A: {STOP: 1.0}, B: {STOP: 1.0}}
    assert Beams(Beam(width=1), told(even), [[]], Limits(2), None).run()[1] == [False]
