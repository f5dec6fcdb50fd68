"""Hierarchical softmax: by hand, P of all symbols sums to one for every tree, the kernel is its plain twin."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from foresay.errors import UserError
from foresay.output.hierarchical import Hierarchical
from foresay.vectors.word_vectors import WordVectors

V, H = 37, 5
COUNTS = np.random.default_rng(1).zipf(1.5, V).clip(max=10**6)
TREES = ["huffman", "balanced", "random", "semantic"]


def built(tree: str = "huffman", vocabulary: int = V) -> Hierarchical:
    torch.manual_seed(1)
    output = Hierarchical(tree=tree)
    output.build(H, vocabulary, nn.Parameter(torch.randn(vocabulary, 3)))
    output.learn_counts(COUNTS[:vocabulary])
    return output


def test_by_hand():
    """Counts 4, 2, 1 (one more each: 5, 3, 2): the root parts 0 from 1 and 2, whose node is the other."""
    output = Hierarchical()
    output.build(1, 3)
    output.learn_counts(np.array([4, 2, 1]))
    with torch.no_grad():
        output.weight.copy_(torch.tensor([[math.log(3.0)], [math.log(4.0)]]))
        output.bias.zero_()
    signs = {word: output.ways().paths.signs[output.ways().paths.first[word] :].tolist() for word in range(3)}
    first, second = (lambda x: 1 / (1 + math.exp(-x)))(math.log(3)), (lambda x: 1 / (1 + math.exp(-x)))(math.log(4))
    root = first if signs[0][0] > 0 else 1 - first
    one = second if signs[1][1] > 0 else 1 - second
    expected = [root, (1 - root) * one, (1 - root) * (1 - one)]
    assert output.log_probs(torch.ones(1, 1))[0].exp().tolist() == pytest.approx(expected)
    assert output.loss(torch.ones(1, 1), torch.tensor([2])).item() == pytest.approx(-math.log(expected[2]))


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("vocabulary", [2, 3, 8, V])
def test_probabilities_sum_to_one(tree, vocabulary):
    output = built(tree, vocabulary).double()
    h = 4 * torch.randn(6, H, dtype=torch.float64)
    log_probs = output.log_probs(h)
    torch.testing.assert_close(log_probs.exp().sum(-1), torch.ones(6, dtype=torch.float64))
    for symbol in range(vocabulary):
        torch.testing.assert_close(output.log_prob(h, torch.full((6,), symbol)), log_probs[:, symbol])


@pytest.mark.parametrize("tree", TREES)
def test_it_begins_with_the_shares_of_the_text(tree):
    found = built(tree).log_probs(torch.zeros(1, H))[0].exp().tolist()
    assert found == pytest.approx(((COUNTS + 1) / (COUNTS + 1).sum()).tolist(), abs=1e-6)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_kernel_is_its_plain_twin(monkeypatch, threads):
    output, h, targets = built(), torch.randn(300, H), torch.arange(300) % V
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    found = []
    for plain in ("0", "1"):
        monkeypatch.setenv("FORESAY_PLAIN", plain)
        own = h.clone().requires_grad_()
        loss = 3 * output.loss(own, targets)
        found.append([loss.detach(), *torch.autograd.grad(loss, [own, output.weight, output.bias])])
    torch.testing.assert_close(found[0], found[1], atol=2e-6, rtol=2e-5)


def test_threads_do_not_matter(monkeypatch):
    output, h, targets = built(), torch.randn(500, H), torch.arange(500) % V
    found = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(torch, "get_num_threads", lambda threads=threads: threads)
        own = h.clone().requires_grad_()
        found.append(torch.autograd.grad(output.loss(own, targets), [own, output.weight, output.bias]))
    for other in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(found[0], other, strict=True))


def test_backward_runs_once():
    output, h = built(), torch.randn(4, H, requires_grad=True)
    loss = output.loss(h, torch.arange(4))
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="once per forward"):
        loss.backward()


def test_the_tree_is_saved_with_the_weights():
    output, other = built(), Hierarchical()
    other.build(H, V)
    h = torch.randn(2, H)
    assert not torch.equal(other.branches, output.branches)
    other.load_state_dict(output.state_dict())
    assert torch.equal(other.log_probs(h), output.log_probs(h))


def test_given_vectors_place_the_symbols(tmp_path):
    """Words of like vectors part late: in two clusters, far apart, the first turn parts the clusters."""
    words = [f"w{n}" for n in range(8)]
    points = np.array([[10.0 * (n % 2), 0.1 * n] for n in range(8)], np.float32)
    WordVectors(words, points).save(tmp_path / "vectors.txt")
    output = Hierarchical(tree="semantic", pretrained=str(tmp_path / "vectors.txt"))
    output.symbols = words
    output.build(H, 8)
    output.learn_counts(np.ones(8, np.int64))
    first = output.ways().paths.first[:-1]
    turns = output.ways().paths.signs[first].tolist()
    assert turns in ([1.0, -1.0] * 4, [-1.0, 1.0] * 4)
    assert output.notes == [f"8 of 8 symbols have their place in the tree by {tmp_path / 'vectors.txt'}"]


def test_what_cannot_be_built_is_said():
    with pytest.raises(UserError, match=r"^output.pretrained is for tree=semantic"):
        Hierarchical(pretrained="vectors.txt")
    with pytest.raises(UserError, match=r"^a tree over 1 symbols"):
        Hierarchical().build(H, 1)
    lone = Hierarchical(tree="semantic")
    lone.build(H, V)
    with pytest.raises(UserError, match=r"this embedding has none; give output.pretrained"):
        lone.learn_counts(COUNTS)
