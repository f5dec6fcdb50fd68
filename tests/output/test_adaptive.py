"""Adaptive softmax against torch's own, with the ranks of a text."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from foresay.errors import UserError
from foresay.output.adaptive import Adaptive

V, H = 23, 16


def pair(cutoffs: list[int]) -> tuple[Adaptive, nn.AdaptiveLogSoftmaxWithLoss]:
    torch.manual_seed(2)
    own = Adaptive(cutoffs=cutoffs, factor=2)
    own.build(H, V)
    peer = nn.AdaptiveLogSoftmaxWithLoss(H, V, cutoffs, div_value=2.0, head_bias=True)
    with torch.no_grad():
        peer.head.weight.copy_(own.head.weight)
        peer.head.bias.copy_(own.head.bias)
        for tail, (_, _, narrow, wide) in zip(peer.tail, own._clusters(), strict=True):
            tail[0].weight.copy_(narrow.weight)
            tail[1].weight.copy_(wide.weight)  # its clusters have no bias; ours begin at 0
    return own, peer


@pytest.mark.parametrize("cutoffs", [[5], [4, 11], [1, 2, 22]])
def test_as_torch_has_it(cutoffs):
    own, peer = pair(cutoffs)
    h, targets = torch.randn(40, H), torch.arange(40) % V
    found = peer(h, targets)
    torch.testing.assert_close(own.log_prob(h, targets), found.output)
    torch.testing.assert_close(own.loss(h, targets), found.loss)
    torch.testing.assert_close(own.log_probs(h), peer.log_prob(h))


def test_ranks_are_those_of_the_text():
    """The same layer, symbols renamed: P of the n-th most frequent is that of rank n."""
    own, peer = pair([4, 11])
    counts = np.random.default_rng(1).permutation(V)
    own.learn_counts(counts)
    found = own.log_probs(torch.zeros(1, H))[0].exp().tolist()
    assert found == pytest.approx(((counts + 1) / (counts + 1).sum()).tolist(), abs=1e-6)
    with torch.no_grad():
        for bias in (own.head.bias, *(tail.bias for *_, tail in own._clusters())):
            bias.zero_()
    by_rank = np.argsort(-counts, kind="stable")
    h = torch.randn(3, H)
    torch.testing.assert_close(own.log_probs(h)[:, by_rank], peer.log_prob(h))
    targets = torch.from_numpy(by_rank[[2, 7, 20]])
    torch.testing.assert_close(own.log_prob(h, targets), peer(h, torch.tensor([2, 7, 20])).output)


@pytest.mark.parametrize(
    ("cutoffs", "told"), [([], "rising ranks"), ([5, 5], "rising ranks"), ([9, 3], "rising ranks")]
)
def test_cutoffs_that_do_not_rise(cutoffs, told):
    with pytest.raises(UserError, match=told):
        Adaptive(cutoffs=cutoffs)


def test_a_cutoff_beyond_the_vocabulary():
    with pytest.raises(UserError, match=r"output.cutoffs=\[23\], and the vocabulary has 23 symbols"):
        Adaptive(cutoffs=[23]).build(H, V)


@pytest.mark.parametrize(
    ("vocabulary", "edges"), [(10, [2, 10]), (10_000, [2000, 10_000]), (40_000, [2000, 8000, 40_000])]
)
def test_the_default(vocabulary, edges):
    own = Adaptive()
    own.build(4, vocabulary)
    assert own.edges == edges
