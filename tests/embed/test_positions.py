"""Positions: the sinusoidal formula value by value, the learnt table and its end."""

from __future__ import annotations

import math

import pytest
import torch

from foresay.embed.positions import Learnt, NoPositions, Sinusoidal
from foresay.errors import UserError


@pytest.mark.parametrize("width", [6, 7])
def test_sinusoidal_formula(width):
    positions = Sinusoidal()
    positions.build(width)
    found = positions(torch.tensor([[0, 1, 57, 4000]]))[0]
    for row, t in enumerate((0, 1, 57, 4000)):
        for i in range(width):
            angle = t / 10000 ** (2 * (i // 2) / width)
            expected = math.sqrt(2 / width) * (math.cos(angle) if i % 2 else math.sin(angle))
            assert found[row, i].item() == pytest.approx(expected, abs=1e-3)  # float32 angles of up to 4000


def test_sinusoidal_vectors_have_length_one():
    positions = Sinusoidal()
    positions.build(6)
    torch.testing.assert_close(positions(torch.arange(50)).norm(dim=1), torch.ones(50))


def test_learnt_picks_rows():
    positions = Learnt(longest=5)
    positions.build(3)
    assert torch.equal(positions(torch.tensor([[4, 0]]))[0], positions.table[[4, 0]])


def test_learnt_ends():
    positions = Learnt(longest=5)
    positions.build(3)
    with pytest.raises(UserError, match="longest=5 learnt positions, but position 5 was asked for"):
        positions(torch.tensor([[5]]))
    with pytest.raises(UserError, match="longest=5"):
        positions(torch.zeros(1, 6, dtype=torch.long))


def test_none_adds_nothing():
    positions = NoPositions()
    positions.build(3)
    assert torch.equal(torch.ones(1, 2, 3) + positions(torch.tensor([[0, 1]])), torch.ones(1, 2, 3))
