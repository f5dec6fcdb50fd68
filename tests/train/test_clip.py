"""Clipping against torch's own and by hand (SPEC E2)."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from foresay import parts
from foresay.errors import UserError
from foresay.train.clip import ByNorm, ByParts, ByValue, gradient_norm, gradients


class Model(nn.Module):
    """Two parts that share one table, as a tied embedding and softmax do."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5, 3)
        self.output = nn.Linear(3, 5)
        self.output.weight = self.embedding.weight

    def fill(self, table: Tensor, bias: Tensor) -> Model:
        self.embedding.weight.grad, self.output.bias.grad = table.clone(), bias.clone()
        return self


TABLE = torch.zeros(5, 3).index_put((torch.tensor([1, 2]), torch.tensor([0, 2])), torch.tensor([3.0, -4.0]))  # norm 5
BIAS = torch.tensor([0.0, 12.0, 0.0, 0.0, 0.0])  # norm 12; both together 13


def flat(model: nn.Module) -> Tensor:
    return torch.cat([gradient.flatten() for gradient in gradients(model)])


def test_the_norm_counts_a_tied_table_once() -> None:
    assert float(gradient_norm(Model().fill(TABLE, BIAS))) == 13.0


def test_nothing_has_a_gradient() -> None:
    assert float(gradient_norm(Model())) == 0.0


def test_by_norm_gives_the_limit_and_keeps_the_direction() -> None:
    model = Model().fill(TABLE, BIAS)
    before = flat(model)
    assert float(ByNorm(2.0).apply(model, 0)) == 13.0  # the norm before clipping
    after = flat(model)
    assert float(after.norm()) == pytest.approx(2.0, rel=1e-6)
    assert float(torch.cosine_similarity(before.double(), after.double(), 0)) == pytest.approx(1.0, abs=1e-7)


def test_by_norm_is_torchs() -> None:
    ours, theirs = Model(), Model()
    table, bias = torch.randn(5, 3), torch.randn(5)
    for limit in (0.1, 1.0, 100.0):
        norm = ByNorm(limit).apply(ours.fill(table, bias), 0)
        expected = nn.utils.clip_grad_norm_(theirs.fill(table, bias).parameters(), limit)
        assert torch.equal(norm, expected)
        # torch divides by the norm + 1e-6
        torch.testing.assert_close(flat(ours), flat(theirs), rtol=2e-6, atol=0.0)


@pytest.mark.parametrize("clip", [ByNorm(13.0), ByNorm(20.0), ByParts(12.5), ByValue(12.0)])
def test_a_gradient_within_the_limit_stays_to_the_bit(clip: ByNorm) -> None:
    model = Model().fill(TABLE, BIAS)
    clip.apply(model, 0)
    assert torch.equal(model.embedding.weight.grad, TABLE) and torch.equal(model.output.bias.grad, BIAS)


def test_a_gradient_of_zeros_stays() -> None:
    for clip in (ByNorm(), ByParts(), ByValue()):
        model = Model().fill(torch.zeros(5, 3), torch.zeros(5))
        assert float(clip.apply(model, 0)) == 0.0
        assert flat(model).abs().sum() == 0.0


def test_by_parts_shortens_each_on_its_own_and_a_tied_table_once() -> None:
    model = Model().fill(TABLE, BIAS)
    assert float(ByParts(2.5).apply(model, 0)) == 13.0
    torch.testing.assert_close(model.embedding.weight.grad, TABLE / 2)
    torch.testing.assert_close(model.output.bias.grad, BIAS * 2.5 / 12)


def test_by_value_cuts_every_entry() -> None:
    model = Model().fill(TABLE, BIAS)
    ByValue(3.5).apply(model, 0)
    assert torch.equal(model.embedding.weight.grad, TABLE.clamp(-3.5, 3.5)) and model.output.bias.grad[1] == 3.5
    assert model.embedding.weight.grad[1, 0] == 3.0 and model.embedding.weight.grad[2, 2] == -3.5


def test_the_threshold_falls_on_a_straight_line() -> None:
    clip = ByNorm(limit=1.0, first=5.0, fall=4)
    assert [clip.threshold(step) for step in range(6)] == [5.0, 4.0, 3.0, 2.0, 1.0, 1.0]
    model = Model().fill(TABLE, BIAS)
    clip.apply(model, 2)
    assert float(flat(model).norm()) == pytest.approx(3.0, rel=1e-6)


@pytest.mark.parametrize("given", [{"first": 5.0}, {"fall": 10}])
def test_half_a_threshold_schedule_is_refused(given: dict) -> None:
    with pytest.raises(UserError, match="allowed: both"):
        ByNorm(**given)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_no_number_shows_in_the_norm(bad: float) -> None:
    for name in parts.names("clip"):
        model = Model().fill(TABLE, torch.tensor([0.0, bad, 0.0, 0.0, 0.0]))
        assert not math.isfinite(float(parts.make("clip", name).apply(model, 0)))
