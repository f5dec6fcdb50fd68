"""The recall task, the search for the longest lag and the gradient's decay, each against values known beforehand."""

from __future__ import annotations

import math

import pytest
import torch

from foresay.study import recall
from foresay.study.recall import SYMBOLS, Size, Tried

SMALL = Size(parameters=600, longest=8, updates=400, rows=32, rate=1e-2, tested=256)


def test_sequences_show_mark_and_ask():
    """Every step one symbol; the mark at the first only, the cue at the last only; the answer is the first symbol."""
    x, answers = recall.draw(50, 6, torch.Generator().manual_seed(1))
    assert x.shape == (50, 7, SYMBOLS + 2) and answers.shape == (50,)
    assert (x[:, :, :SYMBOLS].sum(2) == 1).all()
    assert x[:, :, SYMBOLS].sum(0).tolist() == [50, 0, 0, 0, 0, 0, 0]
    assert x[:, :, SYMBOLS + 1].sum(0).tolist() == [0, 0, 0, 0, 0, 0, 50]
    assert torch.equal(x[:, 0, :SYMBOLS].argmax(1), answers)
    assert len(set(answers.tolist())) > 4 and (x[:, 1, :SYMBOLS].argmax(1) != answers).any()


@pytest.mark.parametrize("cell", ["elman", "lstm", {"kind": "lstm", "forget_bias": 5.0}, "gru-cudnn"])
def test_networks_have_the_same_number_of_parameters(cell):
    """The nearest width: neither neighbour comes nearer to 4000."""
    width = recall.fitting_width(cell, 4000)
    missed = [abs(recall.count(recall.Recaller(cell, w)) - 4000) for w in (width - 1, width, width + 1)]
    assert missed[1] == min(missed) and missed[1] < 200


def test_a_network_of_given_parameters_by_hand():
    """Elman of width H: 10 H + H H + 2 H inside, 8 H + 8 to answer: H = 5 gives 50 + 25 + 10 + 48 = 133."""
    assert recall.count(recall.Recaller("elman", 5)) == 133 and recall.fitting_width("elman", 133) == 5


@pytest.mark.parametrize("true", [0, 1, 2, 3, 4, 7, 8, 11, 30, 128, 1000])
def test_search_finds_the_longest_lag(true):
    """A network that recalls every lag up to `true`: found to a factor of sqrt 2, never above."""
    tried: list[Tried] = []
    while (lag := recall.next_lag(tried, 128)) is not None:
        assert lag not in [one.lag for one in tried] and lag <= 128
        tried.append(Tried(lag, 1, 1.0 if lag <= true else 0.5))
    found = recall.remembered(tried)
    assert found <= true
    assert found == 128 if true >= 128 else found * 1.5 >= true


def test_the_bar_is_ninety_five_per_cent():
    assert Tried(4, 1, 0.95).recalled and not Tried(4, 1, 0.949).recalled
    assert recall.remembered([Tried(4, 1, 0.96), Tried(8, 1, 0.94)]) == 4 and recall.remembered([]) == 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_short_lag_is_learnt_and_training_then_ends(seed):
    """What ended early is recalled on other sequences too, not by luck on those that ended it."""
    tried, model = recall.try_lag("elman", 2, SMALL, seed)
    assert tried.recalled and tried.updates < SMALL.updates
    fresh = torch.Generator().manual_seed(77)
    assert recall.accuracy(model, 2, 500, fresh) >= 0.9
    assert recall.accuracy(model, 40, 500, fresh) < 0.6  # what was not asked for was not learnt


def test_the_same_seed_gives_the_same_numbers():
    few = Size(parameters=300, longest=8, updates=20, rows=8, tested=64)
    one, other, third = (recall.try_lag("lstm", 3, few, seed) for seed in (1, 1, 2))
    assert one[0] == other[0]
    pairs = zip(one[1].parameters(), other[1].parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)
    assert not torch.equal(next(one[1].parameters()), next(third[1].parameters()))


def test_without_hope_half_the_updates_are_spared():
    """A rate so small that nothing is learnt."""
    still = Size(parameters=300, longest=64, updates=20, rows=8, rate=1e-9, tested=256)
    assert recall.try_lag("elman", 30, still, 1)[0].updates == 10


def test_all_lags_can_be_taught_together():
    """The last of the lags decides when it is enough."""
    torch.manual_seed(1)
    model = recall.build("lstm", 600, 1)
    updates = recall.train(model, [1, 2], SMALL, torch.Generator().manual_seed(1))
    assert updates < SMALL.updates and recall.accuracy(model, 1, 500, torch.Generator().manual_seed(2)) > 0.8


def test_gradients_of_a_linear_network_are_powers():
    """h' = x W + h / 2: ||dJ/dh_{t-d}|| = ||dJ/dh_t|| / 2^d, so the gradient halves in one step."""
    model = recall.Recaller({"kind": "elman", "activation": "identity"}, 6)
    cell = model.encoder.forwards[0]
    with torch.no_grad():
        cell.get_parameter("weight_hh").copy_(torch.eye(6) / 2)
    norms = recall.gradient_norms(model, 12, 5, torch.Generator().manual_seed(1))
    assert len(norms) == 13 and norms[0] > 0
    assert [norm / norms[0] for norm in norms] == pytest.approx([0.5**d for d in range(13)], rel=1e-9)
    assert recall.decay(norms) == pytest.approx(math.log(2), rel=1e-9)
    assert next(model.parameters()).dtype == torch.float32


def test_decay_of_what_does_not_fall():
    assert recall.decay([1.0, 1.0, 1.0]) == 0 and recall.decay([1.0, 2.0, 4.0]) == pytest.approx(-math.log(2))
    assert recall.decay([1.0, math.exp(-3), math.exp(-6), 0.0]) == pytest.approx(3)  # what has underflown is left out
