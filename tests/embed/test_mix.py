"""The mix of layers, worked by hand."""

from __future__ import annotations

import pytest
import torch

from foresay.embed.mix import Mix
from foresay.errors import UserError

H = [torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[10.0, 20.0]]]), torch.tensor([[[100.0, -200.0]]])]
WIDTHS = [2, 2, 2]


def test_by_hand_as_they_are():
    """[1, 0, 0] is h_0 alone, not the softmax of it."""
    assert torch.equal(Mix([1.0, 0.0, 0.0], WIDTHS)(H), H[0])
    assert Mix([2.0, -1.0, 0.5], WIDTHS)(H).flatten().tolist() == [2 - 10 + 50, 4 - 20 - 100]
    assert not list(Mix([1.0, 0.0, 0.0], WIDTHS).parameters())


def test_mean():
    torch.testing.assert_close(Mix("mean", WIDTHS)(H).flatten(), torch.tensor([37.0, -178.0 / 3]))


def test_learnt_begins_as_the_mean_and_learns_by_the_softmax():
    mix = Mix("learnt", WIDTHS)
    torch.testing.assert_close(mix(H), Mix("mean", WIDTHS)(H))
    with torch.no_grad():
        mix.scores.copy_(torch.tensor([1.0, 2.0, 4.0]).log())  # shares 1/7, 2/7, 4/7
        mix.gamma.fill_(7.0)
    torch.testing.assert_close(mix(H).flatten(), torch.tensor([1 + 20 + 400.0, 2 + 40 - 800.0]))
    mix(H)[0, 0, 0].backward()  # d/dw_j = gamma s_j (h_j - sum s h); d/dgamma = sum s h
    mean = 421 / 7
    torch.testing.assert_close(mix.gamma.grad, torch.tensor(mean))
    expected = torch.tensor([1 * (1 - mean), 2 * (10 - mean), 4 * (100 - mean)])
    torch.testing.assert_close(mix.scores.grad, expected)


def test_joined_has_the_word_once_and_the_top():
    mix = Mix("joined", [4, 2])
    found = mix([torch.tensor([[[1.0, 2.0, 1.0, 2.0]]]), H[2]])
    assert mix.width == 4 and found.flatten().tolist() == [1.0, 2.0, 100.0, -200.0]


def test_what_cannot_be_mixed_is_refused():
    with pytest.raises(
        UserError, match=r"mix=\[1.0\] has 1 weights; allowed: 3, one for the word's own vector and one"
    ):
        Mix([1.0], WIDTHS)
    with pytest.raises(UserError, match=r"mix=\[1.0, nan, 0.0\]; allowed: finite numbers"):
        Mix([1.0, float("nan"), 0.0], WIDTHS)
    with pytest.raises(UserError, match=r"mix=learnt adds layers, and they are 4, 2 wide; set mix=joined"):
        Mix("learnt", [4, 2])
