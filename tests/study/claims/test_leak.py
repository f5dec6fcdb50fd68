"""The claim on leaks: its rule, the loss by hand, and which places a reader's answer depends on."""

from __future__ import annotations

import math

import pytest
import torch

from foresay.study.claims.claim import Figure
from foresay.study.claims.leak import CHANCE, LENGTH, SYMBOLS, Reader, Size, draw, judge, learnt, loss_of


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("forwards", "both", "quick", "verdict"),
    [
        ((0.99, 1.01), (0.0, 0.05), True, "holds"),
        ((0.99, 1.01), (0.0, 0.2), True, "not decided at this size"),
        ((0.99, 1.01), (0.5, 0.6), True, "not decided at this size"),
        ((0.99, 1.01), (0.5, 0.6), False, "does not hold"),
        ((0.5, 0.6), (0.0, 0.05), True, "does not hold"),
    ],
)
def test_the_rule(forwards, both, quick, verdict):
    assert judge(figure(*forwards), figure(*both), quick) == verdict


def test_the_loss_is_of_the_next_symbol():
    """A reader that is sure of the symbol after the one it stands at: right on 0 1 2, wrong on 0 1 1."""

    class Counting(torch.nn.Module):
        def forward(self, ids):
            return 50.0 * torch.nn.functional.one_hot((ids + 1) % SYMBOLS, SYMBOLS).float()

    assert float(loss_of(Counting(), torch.tensor([[0, 1, 2]]))) == pytest.approx(0, abs=1e-6)
    assert float(loss_of(Counting(), torch.tensor([[0, 1, 1]]))) == pytest.approx(25.0)
    assert pytest.approx(math.log(16)) == CHANCE


@pytest.mark.parametrize("both", [False, True])
def test_only_one_that_reads_both_ways_sees_what_is_asked_for(both):
    torch.manual_seed(1)
    reader, ids = Reader(both).eval(), torch.randint(SYMBOLS, (1, LENGTH))
    other = ids.clone()
    other[0, 8] = (ids[0, 8] + 1) % SYMBOLS
    with torch.no_grad():
        differ = (reader(ids) - reader(other)).abs().amax(2)[0] > 0
    assert bool(differ[7]) is both and bool(differ[8])  # place 7 is asked for what stands at 8


def test_forwards_nothing_can_be_learnt():
    curve, after = learnt(2, Size(steps=30, seeds=1, rows=16), both=False)
    assert len(curve) == 3 and after > 0.99 * CHANCE
    axes = draw({"forwards": [curve], "both ways": [curve]}).axes[0]
    assert axes.lines[0].get_xdata().tolist() == [0, 10, 20] and len(axes.lines) == 3
