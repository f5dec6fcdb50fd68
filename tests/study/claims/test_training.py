"""Training of the claims' networks: Adam's first step by hand, a gradient held to length 1, a batch for each update."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresay.study.claims.training import one_thread, train


def test_updates_by_hand():
    """Adam's first step is the rate against the sign of the gradient, whatever its length."""
    model, seen = nn.Linear(2, 1, bias=False).eval(), []
    nn.init.zeros_(model.weight)

    def loss(update):
        seen.append((update, model.training, model.weight.detach().clone()))
        return (model.weight * torch.tensor([[30.0, -40.0]])).sum()

    train(model, loss, 2, 0.01)
    assert [update for update, _, _ in seen] == [0, 1] and all(training for _, training, _ in seen)
    torch.testing.assert_close(seen[1][2], torch.tensor([[-0.01, 0.01]]))
    assert model.weight.grad is not None and float(model.weight.grad.norm()) == pytest.approx(1.0)


def test_one_thread_for_a_while():
    before = torch.get_num_threads()
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
