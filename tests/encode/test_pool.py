"""Pools worked by hand: rows of three and of one real step, four features."""

from __future__ import annotations

import math

import pytest
import torch

from foresay import parts
from foresay.errors import UserError

Y = torch.tensor(
    [
        [[1.0, -5.0, 3.0, 8.0], [2.0, -6.0, 9.0, 0.0], [6.0, -1.0, 0.0, 4.0], [7.0, 7.0, 7.0, 7.0]],
        [[1.0, 2.0, 3.0, 4.0], [9.0, 9.0, 9.0, 9.0], [9.0, 9.0, 9.0, 9.0], [9.0, 9.0, 9.0, 9.0]],
    ]
)
MASK = torch.tensor([[True, True, True, False], [True, False, False, False]])


@pytest.mark.parametrize(
    "name, first",
    [
        ("last", [6.0, -1.0, 0.0, 4.0]),
        ("mean", [3.0, -4.0, 4.0, 4.0]),
        ("max", [6.0, -1.0, 9.0, 8.0]),
        ("ends", [6.0, -1.0, 3.0, 8.0]),
    ],
)
def test_by_hand(name, first):
    pool = parts.make("pool", name)
    pool.build(4)
    assert pool(Y, MASK).tolist() == [first, [1.0, 2.0, 3.0, 4.0]]


def test_ends_needs_two_halves():
    with pytest.raises(UserError, match="two equal halves, not 7"):
        parts.make("pool", "ends").build(7)


def test_attention_worked_by_hand():
    """Scores log 1 and log 3 of two real steps: (1 * (2, 0) + 3 * (0, 4)) / 4; the third step is padding."""
    pool = parts.make("pool", {"kind": "attention", "size": 1})
    pool.build(2)
    with torch.no_grad():
        pool.look.weight.copy_(torch.tensor([[0.0, 0.25]]))
        pool.look.bias.zero_()
        pool.score.weight.fill_(math.log(3.0) / math.tanh(1.0))
    y = torch.tensor([[[2.0, 0.0], [0.0, 4.0], [9.0, 9.0]]])
    torch.testing.assert_close(pool(y, torch.tensor([[True, True, False]])), torch.tensor([[0.5, 3.0]]))
