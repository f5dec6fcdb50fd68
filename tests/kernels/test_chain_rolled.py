"""Viterbi rolled up against every sequence of tags there is, and against the plain twin."""

from __future__ import annotations

from itertools import product

import pytest
import torch

from foresay.kernels import chain_rolled
from foresay.output.crf import FORBIDDEN, path_score, viterbi

B, T, K = 3, 4, 3
MASK = torch.arange(T) < torch.tensor([4, 2, 1])[:, None]


def made(seed: int = 1):
    torch.manual_seed(seed)
    chain = torch.randn(K, K), torch.randn(K), torch.randn(K)
    return torch.randn(B, T, K), chain


def test_best_of_all_sequences():
    scores, chain = made()
    found = chain_rolled.viterbi(scores, MASK, chain)
    for row, length in enumerate(MASK.sum(1).tolist()):
        own, real = scores[row : row + 1, :length], MASK[row : row + 1, :length]
        every = [torch.tensor([tags]) for tags in product(range(K), repeat=length)]
        best = max(every, key=lambda tags: path_score(own, tags, real, chain).item())
        assert found[row, :length].tolist() == best[0].tolist()


def test_path_score_by_hand():
    chain = torch.tensor([[1.0, 2.0], [4.0, 8.0]]), torch.tensor([16.0, 32.0]), torch.tensor([64.0, 128.0])
    scores = torch.tensor([[[0.1, 0.2], [0.3, 0.4], [9.0, 9.0]]])
    found = path_score(scores, torch.tensor([[1, 0, 1]]), torch.tensor([[True, True, False]]), chain)
    assert found.item() == pytest.approx(32 + 0.2 + 4 + 0.3 + 64)  # b[1] + e[1] + A[1, 0] + e[0] + c[0]


@pytest.mark.parametrize("steps", [1, 9])
def test_as_the_plain_twin_with_rules(steps, monkeypatch):
    monkeypatch.setenv("FORESAY_PLAIN", "1")
    torch.manual_seed(3)
    scores, transitions = torch.randn(5, steps, K), torch.randn(K, K)
    transitions[0, 1] = FORBIDDEN
    chain = transitions, torch.randn(K), torch.randn(K)
    real = torch.ones(5, steps, dtype=torch.bool)
    assert torch.equal(chain_rolled.viterbi(scores, real, chain), viterbi(scores, None, chain))
