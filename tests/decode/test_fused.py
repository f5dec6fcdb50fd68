"""Shallow fusion: the sum of two tables, and what it turns."""

from __future__ import annotations

import math

import pytest
import torch

from foresay.decode.beam import Beam
from foresay.decode.fused import Fused
from foresay.decode.search import Limits
from foresay.errors import UserError
from foresay.text.tokens import START, STOP
from tests.decode.models import KINDS, V, told

A, B = 5, 6
ENDS = {A: {STOP: 1.0}, B: {STOP: 1.0}}


def pair(weight: float) -> Fused:
    one, other = told({START: {A: 0.6, B: 0.4}, **ENDS}), told({START: {A: 0.1, B: 0.9}, **ENDS})
    one.vocabulary = other.vocabulary = V  # pyright: ignore[reportAttributeAccessIssue]
    return Fused(one, [(other, weight)])


def test_the_other_turns_the_choice():
    """log 0.6 + w log 0.1 against log 0.4 + w log 0.9: B from w = log(1.5) / log(9) = 0.1845 on."""
    for weight, expected in ((0.0, A), (0.18, A), (0.19, B), (1.0, B)):
        found = Beam(width=2).find(pair(weight), [[]], Limits(3))[0][0]
        assert found.ids == [expected]
    assert found.score == pytest.approx(math.log(0.4) + math.log(0.9))


@torch.no_grad()
def test_the_sum_of_two_kinds_step_by_step():
    one, other = KINDS["lstm"](1), KINDS["ngram"](2)
    fused, ids, rows = Fused(one, [(other, 0.5)]), torch.tensor([[A], [B]]), torch.tensor([1, 0, 1])
    assert not fused.steady
    found, state = fused.step(ids, fused.begin(2))
    torch.testing.assert_close(found, one.step(ids, one.begin(2))[0] + 0.5 * other.step(ids, other.begin(2))[0])
    found, _ = fused.step(torch.tensor([[A], [A], [B]]), fused.reorder(state, rows))
    whole = torch.tensor([[B, A], [A, A], [B, B]])
    expected = one.step(whole, one.begin(3))[0] + 0.5 * other.step(whole, other.begin(3))[0]
    torch.testing.assert_close(found, expected)


def test_of_one_vocabulary():
    one, other = KINDS["lstm"](1), KINDS["lstm"](1)
    other.vocabulary = 12
    with pytest.raises(UserError, match=r"^models of 9, 12 symbols; fuse models of one vocabulary"):
        Fused(one, [(other, 1.0)])


def test_a_temperature_near_one_changes_little():
    """The sum is no distribution: its mass stays, so that scores do not jump."""
    one, near = (Beam(width=2, temperature=t).find(pair(1.0), [[]], Limits(3))[0][0] for t in (1.0, 1.0 + 1e-6))
    assert near.ids == one.ids and near.score == pytest.approx(one.score, abs=1e-4)


@pytest.mark.parametrize("weight", [-0.1, math.nan, math.inf, "x"])
def test_weights_that_are_none(weight):
    with pytest.raises(UserError, match="allowed: 0 or more"):
        pair(weight)
