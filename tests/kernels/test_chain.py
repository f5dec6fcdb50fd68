"""The compiled chain against the CRF's own operations in float64: values and gradients, to 2e-5, as float32 allows."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from foresay.kernels import chain
from foresay.output.crf import CRF

B, T, K = 19, 7, 5  # three tables of rows, the last not full
SIZES = torch.tensor([7, 3, 0, 1, 5] * 4)[:B]
MASK = torch.arange(T) < SIZES[:, None]


def made(spread: float = 1.0) -> tuple[CRF, CRF, Tensor, Tensor]:
    """A chain in float32 and its twin in float64, scores and tags."""
    torch.manual_seed(1)
    one, twin = CRF(K), CRF(K).double()
    with torch.no_grad():
        for parameter in one.parameters():
            parameter.normal_(std=spread)
    twin.load_state_dict(one.state_dict())
    return one, twin, 2 * torch.randn(B, T, K), torch.randint(0, K, (B, T))


def gradients(crf: CRF, scores: Tensor, tags: Tensor, mask: Tensor | None) -> tuple[Tensor, list[Tensor]]:
    given = [scores.clone().requires_grad_(), *crf.parameters()]
    found = crf.log_likelihood(given[0], tags, mask)
    weights = torch.linspace(-1, 2, B).to(found.dtype)  # rows count differently
    return found.detach().double(), [one.double() for one in torch.autograd.grad(found @ weights, given)]


@pytest.mark.parametrize("mask", [None, MASK], ids=["whole", "padded"])
@pytest.mark.parametrize("spread", [1.0, 500.0], ids=["usual", "far"])
def test_likelihood_and_gradients(mask, spread, monkeypatch):
    """Far: transitions so unlike each other that sums of exponentials underflow and are taken term by term."""
    one, twin, scores, tags = made(spread)
    assert chain.runs_here(scores, one.chain) and not chain.runs_here(scores.double(), twin.chain)
    found, expected = gradients(one, scores, tags, mask), gradients(twin, scores.double(), tags, mask)
    torch.testing.assert_close(found, expected, rtol=2e-5, atol=2e-5)
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    assert not chain.runs_here(scores, one.chain)


def test_a_tag_with_one_way_to_it():
    """From a tag that is e^-900 as probable as the other: below the smallest float64, yet all paths go there."""
    crf = CRF(2)
    with torch.no_grad():
        crf.transitions.copy_(torch.tensor([[0.0, -1e30], [-1e30, 0.0]]))
    scores, tags = torch.zeros(1, 3, 2), torch.ones(1, 3, dtype=torch.long)
    scores[0, 0, 0], scores[0, 2, 0] = 900.0, -2000.0
    scores.requires_grad_()
    found = crf.log_likelihood(scores, tags)
    found.backward()
    assert float(found.detach()) == 0.0 and torch.isfinite(crf.transitions.grad).all()
    assert torch.equal(crf.best(scores.detach()), tags)


@pytest.mark.parametrize("mask", [None, MASK], ids=["whole", "padded"])
def test_best_and_marginals(mask):
    one, twin, scores, _ = made()
    real = torch.ones(B, T, dtype=torch.bool) if mask is None else mask
    with torch.no_grad():
        found, expected = one.marginals(scores, mask), twin.marginals(scores.double(), mask)
    torch.testing.assert_close(found[real].double(), expected[real], rtol=2e-5, atol=2e-5)
    assert torch.equal(one.best(scores, mask)[real], twin.best(scores.double(), mask)[real])
    assert not torch.equal(one.best(scores, mask)[real], scores.argmax(-1)[real]), "transitions matter in this case"


def test_any_number_of_threads_gives_the_same(monkeypatch):
    one, _, scores, tags = made()
    expected = gradients(one, scores, tags, MASK)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    found = gradients(one, scores, tags, MASK)
    assert torch.equal(found[0], expected[0]) and all(map(torch.equal, found[1], expected[1]))


def test_one_tag_alone():
    """K = 1: nothing to choose, and nothing to learn."""
    crf, scores = CRF(1), torch.randn(2, 4, 1, requires_grad=True)
    found = crf.log_likelihood(scores, torch.zeros(2, 4, dtype=torch.long))
    found.sum().backward()
    torch.testing.assert_close(found.detach(), torch.zeros(2), atol=1e-6, rtol=0)
    torch.testing.assert_close(scores.grad, torch.zeros(2, 4, 1), atol=1e-6, rtol=0)
