"""The compiled chain, and the kernels on a GPU, against the CRF's own operations in float64 on a CPU.

Values and gradients, to 2e-5, as float32 allows.
"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from foresay.kernels import chain
from foresay.output.crf import CRF, FORBIDDEN
from tests.gpu import BY_KERNELS, GPU, by_kernels

DEVICES = ["cpu", pytest.param(GPU, marks=BY_KERNELS, id="gpu")]
B, T, K = 19, 7, 5  # three tables of rows, the last not full
SIZES = torch.tensor([7, 3, 0, 1, 5] * 4)[:B]
MASK = torch.arange(T) < SIZES[:, None]


def made(spread: float = 1.0, device: str = "cpu", steps: int = T, kinds: int = K) -> tuple[CRF, CRF, Tensor, Tensor]:
    """A chain in float32 and its twin in float64, scores and tags; all but the twin on the device."""
    torch.manual_seed(1)
    one, twin = CRF(kinds), CRF(kinds).double()
    with torch.no_grad():
        for parameter in one.parameters():
            parameter.normal_(std=spread)
    twin.load_state_dict(one.state_dict())
    scores, tags = 2 * torch.randn(B, steps, kinds), torch.randint(0, kinds, (B, steps))
    return one.to(device), twin, scores.to(device), tags.to(device)


def gradients(crf: CRF, scores: Tensor, tags: Tensor, mask: Tensor | None) -> tuple[Tensor, list[Tensor]]:
    """log P and the gradients of scores, A, b and c, in float64 on a CPU."""
    given = [scores.clone().requires_grad_(), *crf.parameters()]
    found = crf.log_likelihood(given[0], tags, None if mask is None else mask.to(scores.device))
    weights = torch.linspace(-1, 2, B).to(found)  # rows count differently
    grads = torch.autograd.grad(found @ weights, given)
    return found.detach().cpu().double(), [one.cpu().double() for one in grads]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("mask", [None, MASK], ids=["whole", "padded"])
@pytest.mark.parametrize("spread", [1.0, 500.0], ids=["usual", "far"])
def test_likelihood_and_gradients(mask, spread, device, monkeypatch):
    """Far: transitions so unlike each other that sums of exponentials underflow and are taken term by term."""
    one, twin, scores, tags = made(spread, device)
    assert chain.runs_here(scores, one.chain) and not chain.runs_here(scores.double(), twin.chain)
    found, expected = gradients(one, scores, tags, mask), gradients(twin, scores.cpu().double(), tags.cpu(), mask)
    torch.testing.assert_close(found, expected, rtol=2e-5, atol=2e-5)
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    assert not chain.runs_here(scores, one.chain)


@pytest.mark.parametrize("device", DEVICES)
def test_a_tag_with_one_way_to_it(device):
    """From a tag that is e^-900 as probable as the other: below the smallest float64, yet all paths go there."""
    crf = CRF(2).to(device)
    with torch.no_grad():
        crf.transitions.copy_(torch.tensor([[0.0, -1e30], [-1e30, 0.0]]))
    scores, tags = torch.zeros(1, 3, 2, device=device), torch.ones(1, 3, dtype=torch.long, device=device)
    scores[0, 0, 0], scores[0, 2, 0] = 900.0, -2000.0
    scores.requires_grad_()
    found = crf.log_likelihood(scores, tags)
    found.backward()
    assert float(found.detach()) == 0.0 and torch.isfinite(crf.transitions.grad).all()
    assert torch.equal(crf.best(scores.detach()), tags)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("mask", [None, MASK], ids=["whole", "padded"])
def test_best_and_marginals(mask, device):
    one, twin, scores, _ = made(device=device)
    real = torch.ones(B, T, dtype=torch.bool) if mask is None else mask
    there, wide = None if mask is None else mask.to(device), scores.cpu().double()
    with torch.no_grad():
        found, expected = one.marginals(scores, there).cpu(), twin.marginals(wide, mask)
    torch.testing.assert_close(found[real].double(), expected[real], rtol=2e-5, atol=2e-5)
    tags = one.best(scores, there).cpu()[real]
    assert torch.equal(tags, twin.best(wide, mask)[real])
    assert not torch.equal(tags, wide.argmax(-1)[real]), "transitions matter in this case"


def test_any_number_of_threads_gives_the_same(monkeypatch):
    one, _, scores, tags = made()
    expected = gradients(one, scores, tags, MASK)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    found = gradients(one, scores, tags, MASK)
    assert torch.equal(found[0], expected[0]) and all(map(torch.equal, found[1], expected[1]))


@pytest.mark.parametrize("device", DEVICES)
def test_one_tag_alone(device):
    """K = 1: nothing to choose, and nothing to learn."""
    crf, scores = CRF(1).to(device), torch.randn(2, 4, 1, device=device, requires_grad=True)
    found = crf.log_likelihood(scores, torch.zeros(2, 4, dtype=torch.long, device=device))
    found.sum().backward()
    torch.testing.assert_close(found.detach().cpu(), torch.zeros(2), atol=1e-6, rtol=0)
    torch.testing.assert_close(scores.grad.cpu(), torch.zeros(2, 4, 1), atol=1e-6, rtol=0)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("steps", "kinds"), [(1, 2), (40, 18), (150, 50), (3, 128)])
def test_rules_of_many_tags(steps, kinds, device):
    """FORBIDDEN in the chain, which is far from all else; padding, and its tags, may hold anything."""
    one, twin, scores, tags = made(1.0, device, steps, kinds)
    tags, sizes = torch.zeros_like(tags), torch.tensor([steps, 1, 0, steps // 2] * 5)[:B]
    mask = torch.arange(steps) < sizes[:, None]
    with torch.no_grad():
        one.transitions[torch.rand(kinds, kinds).to(device) < 0.3] = FORBIDDEN
        one.begins[1::3] = FORBIDDEN
        one.transitions[0, 0] = 0.0
    twin.load_state_dict(one.state_dict())
    there, wide = mask.to(device), scores.cpu().double()
    expected = gradients(twin, wide, tags.cpu(), mask)
    scores, tags = scores.masked_fill(~there[..., None], torch.nan), tags.masked_fill(~there, -100)
    torch.testing.assert_close(gradients(one, scores, tags, mask), expected, rtol=2e-5, atol=2e-5)
    with torch.no_grad():
        found = one.marginals(scores, there).cpu().double()
    torch.testing.assert_close(found[mask], twin.marginals(wide, mask)[mask].detach(), rtol=2e-5, atol=2e-5)
    assert torch.equal(one.best(scores, there).cpu()[mask], twin.best(wide, mask)[mask])


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_more_tags_than_registers_hold_are_left_to_the_plain_twin():
    one, twin, scores, tags = made(1.0, "cuda", kinds=chain.MOST + 1)
    assert not chain.runs_here(scores, one.chain) and chain.runs_here(scores[..., 1:], one.chain)
    found, expected = gradients(one, scores, tags, MASK), gradients(twin, scores.cpu().double(), tags.cpu(), MASK)
    torch.testing.assert_close(found, expected, rtol=2e-5, atol=2e-5)


@by_kernels
def test_a_program_of_several_rows(monkeypatch):
    from foresay.kernels import chain_triton

    one, twin, scores, tags = made(1.0, GPU)
    monkeypatch.setattr(chain_triton, "TABLES", 3)
    found, expected = gradients(one, scores, tags, MASK), gradients(twin, scores.cpu().double(), tags.cpu(), MASK)
    torch.testing.assert_close(found, expected, rtol=2e-5, atol=2e-5)
    again = gradients(one, scores, tags, MASK)
    assert torch.equal(found[0], again[0]) and all(map(torch.equal, found[1], again[1]))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_long_row_on_a_gpu():
    """alpha is in the tens of thousands at its end; the gradient of A is a sum of 5000 steps in float32."""
    one, twin, scores, tags = made(1.0, "cuda", 5000)
    found, expected = gradients(one, scores, tags, None), gradients(twin, scores.cpu().double(), tags.cpu(), None)
    torch.testing.assert_close(found[0], expected[0], rtol=2e-5, atol=2e-5)
    for value, wanted in zip(found[1], expected[1], strict=True):  # what cancels in a sum is off by more
        assert (value - wanted).norm() <= 2e-5 * wanted.norm()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_nothing_waits_and_a_graph_replays_it():
    """What waits for the device cannot be recorded."""
    one, _, scores, tags = made(1.0, "cuda")
    mask, weights = MASK.cuda(), torch.linspace(-1, 2, B, device="cuda")
    given = [scores.clone().requires_grad_(), *one.parameters()]

    def step() -> list[Tensor]:
        found = one.log_likelihood(given[0], tags, mask)
        grads = torch.autograd.grad(found @ weights, given)
        with torch.no_grad():
            return [found.detach(), *grads, one.best(given[0], mask), one.marginals(given[0], mask), one.best(given[0])]

    aside, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        step()
    torch.cuda.current_stream().wait_stream(aside)
    with torch.cuda.graph(graph):
        replayed = step()
    with torch.no_grad():
        given[0].copy_(scores.flip(0))
    graph.replay()
    assert all(map(torch.equal, replayed, step()))
