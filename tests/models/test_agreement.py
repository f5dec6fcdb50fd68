"""Agreement of two passes: the distance is torch's KL, the gradient the formula's, nothing changes without dropout."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.distributions import Bernoulli, kl_divergence

from foresay.data.batch import Batch
from foresay.models.agreement import apart, apart_each, twice
from tests.models.seq2seq.test_task import MASK, SOURCE, TARGET, WRITERS, batch, made, number
from tests.models.test_classifier import IDS, build
from tests.models.test_classifier import MASK as TEXT_MASK

LABELLED = Batch(ids=IDS, mask=TEXT_MASK, labels=torch.tensor([2, 0]))
SEVERAL = replace(LABELLED, labels=torch.tensor([[1, 0, 1], [0, 0, 1]]))


def gradient(model: Any, given: Batch) -> Tensor:
    model.zero_grad()
    torch.manual_seed(5)
    model.train().loss(given)[0].backward()
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def test_distance_is_the_mean_of_both_divergences():
    log_probs = torch.randn(6, 4, 9, dtype=torch.float64).log_softmax(-1)
    one, other = log_probs.chunk(2)
    both = F.kl_div(one, other, log_target=True, reduction="none") + F.kl_div(
        other, one, log_target=True, reduction="none"
    )
    torch.testing.assert_close(apart(log_probs), both.sum(-1) / 2)


def test_distance_of_labels_that_stand_alone():
    z = torch.randn(6, 4, dtype=torch.float64)
    one, other = (Bernoulli(logits=half) for half in z.chunk(2))
    wanted = (kl_divergence(one, other) + kl_divergence(other, one)).sum(1) / 2
    torch.testing.assert_close(apart_each(z), wanted)


def test_every_row_stands_twice():
    found = twice(replace(batch(), characters=torch.ones(7, 3)))
    for name in ("ids", "targets", "mask", "source", "source_mask"):
        one, other = getattr(found, name).chunk(2)
        assert torch.equal(one, getattr(batch(), name)) and torch.equal(one, other)
    assert found.labels is None and found.characters is not None and len(found.characters) == 7


@pytest.mark.parametrize("writer", [WRITERS[2], WRITERS[5], WRITERS[6]], ids=["attention", "copy", "transformer"])
def test_changes_nothing_where_nothing_is_dropped(writer):
    torch.testing.assert_close(gradient(made(writer), batch()), gradient(made(writer, agreement=3.0), batch()))


def test_gradient_of_sequences_is_the_formulas():
    writer = WRITERS[6] | {"dropout": 0.4}
    plain, agreeing = made(writer), made(writer, agreement=0.7)
    torch.manual_seed(5)
    given = twice(batch())
    wrote, _ = plain._write(given, plain.train().writer.begin(plain._read(torch.cat([SOURCE, SOURCE]))))
    log_probs = plain._log_probs(wrote, torch.cat([SOURCE, SOURCE]))
    p, q = (half[MASK] for half in log_probs.chunk(2))
    differ = (F.kl_div(q, p, log_target=True, reduction="sum") + F.kl_div(p, q, log_target=True, reduction="sum")) / 2
    loss = (F.nll_loss(p, TARGET[MASK]) + F.nll_loss(q, TARGET[MASK])) / 2
    whole = loss + 0.7 * differ / MASK.sum()
    wanted = torch.autograd.grad(whole, list(plain.parameters()), allow_unused=True, materialize_grads=True)
    torch.testing.assert_close(gradient(agreeing, batch()), torch.cat([one.flatten() for one in wanted]))
    torch.manual_seed(5)
    assert number(agreeing.loss(batch())[0]) == pytest.approx(number(loss))  # what is reported has no agreement in it
    assert number(differ) > 0.01


@pytest.mark.parametrize("several", [False, True])
def test_gradient_of_labels_is_the_formulas(several):
    given = SEVERAL if several else LABELLED
    settings: dict[str, Any] = {"embedding": {"kind": "lookup", "size": 16}, "dropout": 0.5}
    plain, agreeing = build(several, **settings), build(several, agreement=2.0, **settings)
    torch.manual_seed(5)
    both = twice(given)
    assert both.labels is not None
    z = plain.train().scores(both)
    differ = apart_each(z) if several else apart(z.log_softmax(1))
    whole = plain.loss_of(z, both.labels) + 2.0 * differ.mean()
    wanted = torch.autograd.grad(whole, list(plain.parameters()))
    torch.testing.assert_close(gradient(agreeing, given), torch.cat([one.flatten() for one in wanted]))
    assert number(differ.mean()) > 1e-4
    assert number(agreeing.eval().loss(given)[0]) == pytest.approx(number(plain.eval().loss(given)[0]))
