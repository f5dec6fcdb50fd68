"""Losses against drawn symbols: by hand, near the softmax for many draws, and what each of them learns."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from foresay import parts
from foresay.errors import UserError
from foresay.output.contrastive import Contrastive
from foresay.output.negative import Negative
from foresay.output.noise import Noise
from foresay.output.sampled import Sampled
from foresay.output.softmax import Softmax

V, H = 6, 3
COUNTS = np.array([0, 1, 3, 7, 15, 31])
KINDS = {"sampled": Sampled, "nce": Contrastive, "negative": Negative}


def built(kind: str, **settings):
    torch.manual_seed(3)
    output = KINDS[kind](**settings)
    output.build(H, V)
    output.learn_counts(COUNTS)
    with torch.no_grad():
        output.bias.add_(0.3 * torch.randn(V))
    return output.double()


def test_noise_is_by_count_and_one_more():
    noise = Noise(V, 1.0)
    noise.learn(COUNTS)
    assert noise.log_q.exp().tolist() == pytest.approx([n / 63 for n in (1, 2, 4, 8, 16, 32)])
    torch.manual_seed(1)
    found = torch.bincount(noise.draw(63_000), minlength=V) / 1000
    assert found.tolist() == pytest.approx([1, 2, 4, 8, 16, 32], rel=0.12)
    half = Noise(V, 0.5)
    half.learn(COUNTS)
    assert half.log_q.exp()[5] / half.log_q.exp()[1] == pytest.approx(4)


def test_noise_is_rebuilt_from_what_is_saved():
    noise, other = Noise(V, 0.75), Noise(V, 0.75)
    noise.learn(COUNTS)
    assert noise.state_dict().keys() == {"counts"}
    other.load_state_dict(noise.state_dict())
    assert torch.equal(other.cumulative, noise.cumulative) and torch.equal(other.log_q, noise.log_q)


@pytest.mark.parametrize("kind", KINDS)
def test_by_hand(kind, monkeypatch):
    """Target 2 against 5, 5 and 2, which were drawn."""
    output = built(kind, number=3, power=1.0)
    drawn, h = torch.tensor([5, 5, 2]), torch.randn(1, H, dtype=torch.float64)
    monkeypatch.setattr(output.noise, "draw", lambda number: drawn)
    s = (output.weight @ h[0] + output.bias).tolist()
    expected = [math.log(3 * n / 63) for n in (1, 2, 4, 8, 16, 32)]  # how often among three
    own, other = s[2] - expected[2], s[5] - expected[5]
    if kind == "sampled":
        wanted = -math.log(math.exp(own) / (2 * math.exp(own) + 2 * math.exp(other)))
    elif kind == "nce":
        wanted = -sum(math.log(1 / (1 + math.exp(-x))) for x in (own, -other, -other, -own))
    else:
        wanted = -sum(math.log(1 / (1 + math.exp(-x))) for x in (s[2], -s[5], -s[5], -s[2]))
    assert output.loss(h, torch.tensor([2])).item() == pytest.approx(wanted, abs=1e-6)


def test_for_many_draws_the_gradient_is_the_softmaxs():
    output, exact = built("sampled", number=200_000, power=0.5), Softmax()
    exact.build(H, V)
    exact.double().load_state_dict({name: output.state_dict()[name] for name in ("weight", "bias")})
    h, targets = torch.randn(8, H, dtype=torch.float64), torch.randint(0, V, (8,))
    found, wanted = (torch.autograd.grad(one.loss(h, targets), [one.weight, one.bias]) for one in (output, exact))
    torch.testing.assert_close(found, wanted, atol=0.005, rtol=0.0)


def test_negative_sampling_is_nce_with_the_noise_in_its_bias():
    """s + log S q in place of s: the same loss, the same distribution."""
    one, other = built("negative", number=4), built("nce", number=4)
    shift = one.noise.log_q + math.log(4)
    other.load_state_dict(one.state_dict() | {"bias": one.bias.detach() + shift})
    h, targets = torch.randn(5, H, dtype=torch.float64), torch.randint(0, V, (5,))
    torch.manual_seed(9)
    loss = one.loss(h, targets)
    torch.manual_seed(9)
    torch.testing.assert_close(other.loss(h, targets), loss)
    torch.testing.assert_close(other.log_probs(h), one.log_probs(h))


@pytest.mark.parametrize("kind", KINDS)
def test_they_learn_the_shares_of_a_text(kind):
    """One state, symbols by fixed chances: what is learnt comes near to them, by whatever loss."""
    torch.manual_seed(5)
    chances = torch.tensor([0.02, 0.08, 0.1, 0.2, 0.25, 0.35])
    output = parts.make("output", {"kind": kind, "number": 40})
    output.build(H, V)
    output.learn_counts((1000 * chances.numpy()).astype(np.int64)[::-1].copy())  # the noise is another
    h, optimizer = torch.ones(1, H), torch.optim.Adam(output.parameters(), lr=0.05)
    for step in range(600):
        for group in optimizer.param_groups:
            group["lr"] = 0.05 * (1 - step / 600)
        optimizer.zero_grad()
        targets = torch.multinomial(chances, 256, replacement=True)
        output.loss(h.expand(256, H), targets).backward()
        optimizer.step()
    assert output.log_probs(h)[0].exp().tolist() == pytest.approx(chances.tolist(), abs=0.04)


@pytest.mark.parametrize("kind", KINDS)
def test_it_begins_with_the_shares_of_the_text(kind):
    output = KINDS[kind](number=7)
    output.build(H, V)
    output.learn_counts(COUNTS)
    found = output.log_probs(torch.zeros(1, H))[0].exp().tolist()
    assert found == pytest.approx([n / 63 for n in (1, 2, 4, 8, 16, 32)], abs=1e-6)


@pytest.mark.parametrize("kind", ["sampled", "nce", "negative", "monte-carlo"])
def test_too_many_to_draw_are_refused(kind):
    with pytest.raises(UserError, match=r"number=1000000000000; allowed: .*1048576"):
        parts.make("output", {"kind": kind, "number": 10**12})
