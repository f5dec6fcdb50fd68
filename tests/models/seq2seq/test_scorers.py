"""The three scorers and the weights, worked by hand."""

from __future__ import annotations

import math

import pytest
import torch

from foresay.errors import UserError
from foresay.models.seq2seq.scorers import Scorer, weigh

S = torch.tensor([[1.0, 2.0]], dtype=torch.float64)
A = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]], dtype=torch.float64)


def test_dot():
    """s = (1, 2): e = (1, 2, 3); two places seen, alpha = (1, e) / (1 + e)."""
    scorer = Scorer("dot", 2, 2)
    scores = scorer(S, scorer.keys(A))
    assert scores.tolist() == [[1.0, 2.0, 3.0]]
    alpha = weigh(scores, torch.tensor([[True, True, False]]))
    low, high = 1 / (1 + math.e), math.e / (1 + math.e)
    torch.testing.assert_close(alpha, torch.tensor([[low, high, 0.0]], dtype=torch.float64))
    c = alpha @ A[0]
    torch.testing.assert_close(c, torch.tensor([[low, high]], dtype=torch.float64))


def test_bilinear():
    scorer = Scorer("bilinear", 2, 2).double()
    with torch.no_grad():
        scorer.source.weight.copy_(torch.tensor([[1.0, 2.0], [0.0, -1.0]]))
    # W a of the places: (1, 0), (2, -1), (3, -1); s' of them: 1, 0, 1
    assert scorer(S, scorer.keys(A)).tolist() == [[1.0, 0.0, 1.0]]


def test_additive():
    scorer = Scorer("additive", 2, 2).double()
    with torch.no_grad():
        scorer.source.weight.copy_(torch.eye(2))
        scorer.source.bias.copy_(torch.tensor([0.5, 0.0]))
        scorer.state.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 0.5]]))
        scorer.weigh.weight.copy_(torch.tensor([[2.0, -1.0]]))
    # W s = (1, 1); with U a + b: (2.5, 1), (1.5, 2), (2.5, 2)
    wanted = [2 * math.tanh(x) - math.tanh(y) for x, y in ((2.5, 1), (1.5, 2), (2.5, 2))]
    assert scorer(S, scorer.keys(A))[0].tolist() == pytest.approx(wanted)


def test_nothing_seen_gives_zeros():
    scores = torch.randn(2, 3, requires_grad=True)
    alpha = weigh(scores, torch.tensor([[False] * 3, [True] * 3]))
    assert alpha[0].tolist() == [0, 0, 0] and float(alpha[1].detach().sum()) == pytest.approx(1)
    alpha.square().sum().backward()
    assert bool(scores.grad.isfinite().all())


def test_dot_wants_equal_widths():
    with pytest.raises(UserError, match="multiplies a state of 3 with an annotation of 4; allowed: equal widths"):
        Scorer("dot", 3, 4)
