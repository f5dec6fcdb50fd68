"""The CRF against brute force over all K^T sequences of tags, padded rows too; gradients against differences."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

from foresay.output.crf import CRF, Apart

B, T, K = 4, 5, 3
LENGTHS = [5, 3, 1, 0]


@pytest.fixture
def crf() -> CRF:
    torch.manual_seed(1)
    made = CRF(K).double()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_()
    return made


@pytest.fixture
def case() -> tuple[Tensor, Tensor, Tensor]:
    """Scores, tags and mask."""
    torch.manual_seed(2)
    mask = torch.arange(T) < torch.tensor(LENGTHS)[:, None]
    return 2 * torch.randn(B, T, K, dtype=torch.float64), torch.randint(0, K, (B, T)), mask


def every_path(crf: CRF, scores: Tensor) -> dict[tuple[int, ...], float]:
    """log P of every sequence of tags of one row (T, K), by the definition."""
    begins, ends, moves = crf.begins.tolist(), crf.ends.tolist(), crf.transitions.tolist()
    found = {}
    for path in itertools.product(range(K), repeat=len(scores)):
        total = begins[path[0]] + ends[path[-1]] + sum(float(scores[t, tag]) for t, tag in enumerate(path))
        found[path] = total + sum(moves[a][b] for a, b in itertools.pairwise(path))
    whole = torch.tensor(list(found.values()), dtype=torch.float64).logsumexp(0)
    return {path: total - float(whole) for path, total in found.items()}


def test_likelihood_is_that_of_all_paths(crf, case):
    scores, tags, mask = case
    found = crf.log_likelihood(scores, tags, mask)
    steps = crf.log_prob(scores, tags, mask)
    for row, length in enumerate(LENGTHS[:3]):
        expected = every_path(crf, scores[row, :length])[tuple(tags[row, :length].tolist())]
        assert float(found[row].detach()) == pytest.approx(expected, abs=1e-10)
        assert float(steps[row].sum().detach()) == pytest.approx(expected, abs=1e-10)
    assert found[3] == 0 and (steps[~mask] == 0).all() and (steps[mask] < 0).all()


def test_each_step_is_given_those_before(crf, case):
    """log P(y_t | y_1 .. y_{t-1}) from sums over all ways to go on."""
    scores, tags, _ = case
    paths = every_path(crf, scores[0])
    row = tags[0].tolist()

    def begun(steps: int) -> Tensor:
        own = [p for path, p in paths.items() if list(path[:steps]) == row[:steps]]
        return torch.tensor(own, dtype=torch.float64).logsumexp(0)

    expected = torch.stack([begun(t + 1) - begun(t) for t in range(T)])
    torch.testing.assert_close(crf.log_prob(scores, tags)[0].detach(), expected)


def test_marginals_are_sums_over_paths(crf, case):
    scores, _, mask = case
    found = crf.marginals(scores, mask).exp()
    torch.testing.assert_close(found[mask].sum(-1), torch.ones(int(mask.sum()), dtype=torch.float64))
    for row, length in enumerate(LENGTHS[:3]):
        expected = torch.zeros(length, K, dtype=torch.float64)
        for path, log_prob in every_path(crf, scores[row, :length]).items():
            for t, tag in enumerate(path):
                expected[t, tag] += torch.tensor(log_prob).exp()
        torch.testing.assert_close(found[row, :length].detach(), expected, rtol=1e-6, atol=1e-6)


def test_viterbi_finds_the_best_path(crf, case):
    scores, _, mask = case
    found = crf.best(scores, mask)
    for row, length in enumerate(LENGTHS[:3]):
        paths = every_path(crf, scores[row, :length])
        assert tuple(found[row, :length].tolist()) == max(paths, key=paths.__getitem__)
    assert not torch.equal(found[0], scores[0].argmax(-1)), "transitions matter in this case"


def test_padding_may_hold_anything(crf, case):
    scores, tags, mask = case
    other, strange = scores.masked_fill(~mask[..., None], 50.0), tags.where(mask, 0)
    torch.testing.assert_close(crf.log_likelihood(other, strange, mask), crf.log_likelihood(scores, tags, mask))
    torch.testing.assert_close(crf.log_prob(other, strange, mask), crf.log_prob(scores, tags, mask))
    torch.testing.assert_close(crf.marginals(other, mask)[mask], crf.marginals(scores, mask)[mask])
    assert torch.equal(crf.best(other, mask)[mask], crf.best(scores, mask)[mask])


def test_gradients(crf, case):
    scores, tags, mask = case
    given = (scores.requires_grad_(), crf.transitions, crf.begins, crf.ends)
    for run in (
        lambda *_: crf.log_likelihood(scores, tags, mask),
        lambda *_: crf.log_prob(scores, tags, mask),
        lambda *_: crf.marginals(scores, mask)[mask],
    ):
        assert torch.autograd.gradcheck(run, given)


def test_gradient_of_the_normaliser_is_the_marginals(crf, case):
    scores, _, mask = case
    (found,) = torch.autograd.grad(crf.normaliser(scores.requires_grad_(), mask)[:3].sum(), scores)
    expected = crf.marginals(scores, mask).exp().masked_fill(~mask[..., None], 0.0)
    torch.testing.assert_close(found[:3], expected[:3])


def test_large_scores_stay_finite(crf):
    """A sum of exponentials would overflow at 710."""
    scores = torch.full((1, 6, K), 2000.0, dtype=torch.float64)
    scores[0, :, 1] = 4000.0
    tags = torch.ones(1, 6, dtype=torch.long)
    assert float(crf.log_likelihood(scores, tags).detach()) == pytest.approx(0.0, abs=1e-9)
    assert crf.best(scores).tolist() == [[1] * 6]


def test_apart_is_a_chain_without_transitions(case):
    scores, tags, mask = case
    chain, apart = CRF(K).double(), Apart()
    torch.testing.assert_close(apart.log_prob(scores, tags, mask), chain.log_prob(scores, tags, mask))
    torch.testing.assert_close(apart.marginals(scores, mask)[mask], chain.marginals(scores, mask)[mask])
    assert torch.equal(apart.best(scores, mask)[mask], chain.best(scores, mask)[mask])


def test_nothing_at_all(crf):
    scores, tags = torch.zeros(2, 0, K, dtype=torch.float64), torch.zeros(2, 0, dtype=torch.long)
    assert crf.log_likelihood(scores, tags).tolist() == [0, 0]
    assert crf.log_prob(scores, tags).shape == crf.best(scores).shape == (2, 0)
    assert crf.marginals(scores).shape == (2, 0, K)
