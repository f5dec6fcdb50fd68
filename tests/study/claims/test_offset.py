"""The claim on positions without shared weights: its rule, its rows, and readers that must and must not move."""

from __future__ import annotations

import pytest
import torch

from foresay.study.claims.claim import Figure
from foresay.study.claims.offset import (
    CONVOLUTION,
    DENSE,
    DOT,
    HALF,
    KINDS,
    LETTERS,
    SHARED,
    Reader,
    accuracy,
    draw,
    judge,
    rows_of,
)


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("dense", "shared", "verdict"),
    [
        ((60, 80), (-1, 5), "holds"),
        ((10, 80), (-1, 5), "not decided at this size"),
        ((60, 80), (50, 70), "not decided at this size"),
        ((5, 15), (-1, 5), "does not hold"),
        ((60, 80), (85, 95), "does not hold"),
    ],
)
def test_the_rule(dense, shared, verdict):
    assert judge(figure(*dense), figure(*shared)) == verdict


def test_rows_have_one_pair_where_it_may_stand():
    ids, kinds = rows_of(300, 2, 5, torch.Generator().manual_seed(1))
    real = ids != DOT
    first = real.int().argmax(1)
    assert (real.sum(1) == 2).all() and set(first.tolist()) == {2, 3, 4, 5}
    pair = ids.gather(1, torch.stack([first, first + 1], 1))
    assert torch.equal(pair[:, 0] * LETTERS + pair[:, 1], kinds) and set(kinds.tolist()) == set(range(KINDS))


def test_a_convnet_answers_alike_wherever_the_pair_stands_and_an_mlp_does_not():
    """Away from the ends, untrained: the best place of a kernel is the same number at another place."""
    torch.manual_seed(1)
    ids = rows_of(20, 2, 2, torch.Generator().manual_seed(1))[0]
    moved = ids.roll(HALF, 1)
    with torch.no_grad():
        convolution, dense = Reader(CONVOLUTION).eval(), Reader(DENSE).eval()
        torch.testing.assert_close(convolution(ids), convolution(moved))
        assert not torch.allclose(dense(ids), dense(moved), atol=1e-3)


def test_accuracy_and_picture():
    ids, kinds = rows_of(40, 0, 3, torch.Generator().manual_seed(1))
    assert accuracy(lambda _: torch.eye(KINDS)[kinds], ids, kinds) == 100
    axes = draw({name: [(90.0, 10.0), (80.0, 20.0)] for name in (DENSE, *SHARED)}).axes[0]
    assert [bar.get_height() for bar in axes.patches] == [85.0] * 3 + [15.0] * 3
