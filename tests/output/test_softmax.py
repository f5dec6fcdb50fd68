"""The full softmax: worked by hand, tied rows, and what is saved of them."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
import torch
from torch import nn

from foresay.errors import UserError
from foresay.output.softmax import Softmax

V, H, D = 11, 7, 5


def test_by_hand():
    """h = (1, 2), W = ((ln 2, 0), (0, ln 3 / 2), (0, 0)), b = (0, 0, ln 5): odds 2 : 3 : 5."""
    output = Softmax()
    output.build(2, 3)
    weight = torch.tensor([[math.log(2), 0.0], [0.0, math.log(3) / 2], [0.0, 0.0]])
    output.load_state_dict({"weight": weight, "bias": torch.tensor([0.0, 0.0, math.log(5)])})
    h = torch.tensor([[1.0, 2.0]])
    torch.testing.assert_close(output.log_probs(h).exp(), torch.tensor([[0.2, 0.3, 0.5]]))
    assert output.loss(h, torch.tensor([1])).item() == pytest.approx(-math.log(0.3))


def test_loss_is_the_mean_of_log_prob():
    output = Softmax()
    output.build(H, V)
    h, targets = torch.randn(2, 5, H), torch.randint(0, V, (2, 5))
    mask = torch.arange(5) < torch.tensor([[3], [5]])
    log_prob = output.log_prob(h, targets)
    torch.testing.assert_close(output.loss(h, targets), -log_prob.mean())
    torch.testing.assert_close(output.loss(h, targets, mask), -log_prob[mask].mean())


def test_biases_may_begin_at_the_shares_of_the_text():
    output = Softmax(begin="shares")
    output.build(2, 3)
    assert output.wants_counts and not Softmax().wants_counts
    output.learn_counts(np.array([0, 1, 5]))
    assert output.log_probs(torch.zeros(1, 2)).exp().flatten().tolist() == pytest.approx([1 / 9, 2 / 9, 6 / 9])
    with pytest.raises(UserError, match=r"^output.begin=shares is where biases begin, and bias=false"):
        Softmax(begin="shares", bias=False)


def test_tied_uses_the_table_itself():
    table = nn.Parameter(torch.randn(V, H))
    output = Softmax(tied=True, bias=False)
    output.build(H, V, table)
    h = torch.randn(4, H)
    torch.testing.assert_close(output.log_probs(h), (h @ table.T).log_softmax(-1))
    output.loss(h, torch.zeros(4, dtype=torch.long)).backward()
    assert table.grad is not None and list(output.parameters()) == [table]


def test_tied_to_another_width_goes_through_a_product():
    table = nn.Parameter(torch.randn(V, D))
    output = Softmax(tied=True)
    output.build(H, V, table)
    assert output.project is not None and output.project.weight.shape == (D, H) and output.project.bias is None
    h = torch.randn(4, H)
    expected = (h @ output.project.weight.T @ table.T).log_softmax(-1)
    torch.testing.assert_close(output.log_probs(h), expected)


class Model(nn.Module):
    """An embedding and an output that share a table."""

    def __init__(self, first: str):
        super().__init__()
        table = nn.Parameter(torch.randn(V, H))
        output = Softmax(tied=True)
        output.build(H, V, table)
        for name in ("embedding", "output") if first == "embedding" else ("output", "embedding"):
            setattr(self, name, output if name == "output" else nn.ParameterList([table]))


@pytest.mark.parametrize("first", ["embedding", "output"])
def test_tied_table_is_saved_once_and_loaded(first):
    model, other = Model(first), Model(first)
    assert set(model.state_dict()) == {"embedding.0", "output.bias"}
    other.load_state_dict(model.state_dict())
    assert torch.equal(other.output.weight, model.embedding[0])
    assert other.output.weight is other.embedding[0]
    copied = copy.deepcopy(model).double()
    assert copied.output.weight is copied.embedding[0]


def test_tied_without_a_table_is_refused():
    with pytest.raises(UserError, match="tied=True needs an embedding with a table"):
        Softmax(tied=True).build(H, V, None)
    with pytest.raises(UserError, match="the table has 12 rows, the vocabulary 11"):
        Softmax(tied=True).build(H, V, nn.Parameter(torch.randn(12, H)))


def test_a_bound_is_kept_and_filled():
    own, tied = Softmax(bound=0.01), Softmax(tied=True, bound=0.01)
    own.build(H, 5000)
    tied.build(2000, 5000, nn.Parameter(torch.randn(5000, D)))
    assert tied.project is not None
    for weight in (own.weight, tied.project.weight):
        assert weight.abs().max() <= 0.01
        assert weight.std().item() == pytest.approx(0.01 / 3**0.5, rel=0.03)  # of a uniform distribution
