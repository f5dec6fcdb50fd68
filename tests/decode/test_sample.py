"""Every filter against distributions worked out by hand; draws against the distribution they come from."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from foresay.decode.chance import gumbel, keys
from foresay.decode.sample import Greedy, Sample
from foresay.errors import UserError

P = [0.4, 0.3, 0.2, 0.1]
NOTHING = torch.zeros(1, 0, dtype=torch.long)


def shares(decoder: Sample, p: list[float], written: Tensor = NOTHING) -> list[float]:
    return decoder.distribution(torch.tensor([p], dtype=torch.float64).log(), written)[0].tolist()


def near(values: list[float]):
    return pytest.approx(values, abs=1e-12)


def test_without_settings_it_is_the_distribution():
    assert shares(Sample(), P) == near(P)


def test_temperature():
    """P^(1/t), normalised: t = 1/2 squares, t = 2 takes roots."""
    assert shares(Sample(temperature=0.5), P) == near([16 / 30, 9 / 30, 4 / 30, 1 / 30])
    roots = [math.sqrt(p) for p in P]
    assert shares(Sample(temperature=2.0), P) == near([root / sum(roots) for root in roots])


@pytest.mark.parametrize("temperature", [1e-2, 1e-9, 1e-300, 5e-324])
def test_temperature_towards_nothing_is_greedy(temperature):
    assert shares(Sample(temperature=temperature), P) == near([1, 0, 0, 0])
    assert shares(Sample(temperature=temperature), [0.1, 0.45, 0.0, 0.45]) == near([0, 0.5, 0, 0.5])


def test_top_k():
    assert shares(Sample(top_k=1), P) == near([1, 0, 0, 0])
    assert shares(Sample(top_k=2), [0.1, 0.4, 0.2, 0.3]) == near([0, 4 / 7, 0, 3 / 7])
    for all_of_them in (0, 4, 100):
        assert shares(Sample(top_k=all_of_them), P) == near(P)


def test_top_k_is_k_also_among_equals():
    assert shares(Sample(top_k=2), [0.25, 0.25, 0.25, 0.25]) == near([0.5, 0.5, 0, 0])
    assert shares(Sample(top_k=2), [0.2, 0.4, 0.2, 0.2]) == near([1 / 3, 2 / 3, 0, 0])


def test_top_p():
    """The fewest that hold at least p: the one that passes p is the last."""
    assert shares(Sample(top_p=0.39), P) == near([1, 0, 0, 0])
    assert shares(Sample(top_p=0.41), P) == near([4 / 7, 3 / 7, 0, 0])
    assert shares(Sample(top_p=0.65), [0.1, 0.2, 0.3, 0.4]) == near([0, 0, 3 / 7, 4 / 7])
    assert shares(Sample(top_p=0.95), P) == near(P)
    assert shares(Sample(top_p=1e-9), P) == near([1, 0, 0, 0])


def test_top_p_that_is_met_exactly_takes_no_more():
    assert shares(Sample(top_p=0.5), [0.5, 0.25, 0.25, 0.0]) == near([1, 0, 0, 0])
    assert shares(Sample(top_p=0.5), [0.25, 0.25, 0.25, 0.25]) == near([0.5, 0.5, 0, 0])


def test_min_p():
    """At least half as likely as the likeliest; exactly half is enough."""
    assert shares(Sample(min_p=0.6), P) == near([4 / 7, 3 / 7, 0, 0])
    assert shares(Sample(min_p=0.5), [0.5, 0.25, 0.125, 0.125]) == near([2 / 3, 1 / 3, 0, 0])
    assert shares(Sample(min_p=0.99), P) == near([1, 0, 0, 0])


def test_repetition():
    """log P of 0 and 2 is doubled: 0.16, 0.3, 0.04, 0.1 over their sum 0.6; writing it twice changes nothing."""
    for written in ([0, 2], [2, 0, 0, 2]):
        found = shares(Sample(repetition=2.0), P, torch.tensor([written]))
        assert found == near([0.16 / 0.6, 0.3 / 0.6, 0.04 / 0.6, 0.1 / 0.6])
    assert shares(Sample(repetition=2.0), P) == near(P)
    barred = shares(Sample(repetition=0.5), [0.5, 0.5, 0.0, 0.0], torch.tensor([[0, 2]]))
    assert barred == near([math.sqrt(0.5) / (math.sqrt(0.5) + 0.5), 0.5 / (math.sqrt(0.5) + 0.5), 0, 0])


def test_filters_apply_in_their_order():
    """Repetition on 0, then t = 1/2: 0.0256, 0.09, 0.04, 0.01; top 3; min 0.3; then half the mass of 0.09 and 0.04."""
    decoder = Sample(temperature=0.5, top_k=3, top_p=0.5, min_p=0.3, repetition=2.0)
    assert shares(decoder, P, torch.tensor([[0]])) == near([0, 1, 0, 0])
    decoder = Sample(temperature=0.5, top_k=3, top_p=0.7, min_p=0.3, repetition=2.0)
    assert shares(decoder, P, torch.tensor([[0]])) == near([0, 9 / 13, 4 / 13, 0])


def test_typical():
    """-log P of P is 0.92, 1.20, 1.61, 2.30; their mean 1.28: nearest are 0.3, then 0.2, 0.4, 0.1."""
    assert shares(Sample(typical=0.29), P) == near([0, 1, 0, 0])
    assert shares(Sample(typical=0.31), P) == near([0, 0.6, 0.4, 0])
    assert shares(Sample(typical=0.51), P) == near([4 / 9, 3 / 9, 2 / 9, 0])
    assert shares(Sample(typical=0.95), P) == near(P)


def test_the_largest_of_log_p_and_noise_is_drawn():
    p = torch.tensor([[0.1, 0.4, 0.2, 0.3]], dtype=torch.float64).log()
    nothing = torch.zeros(1, 0, dtype=torch.long)
    for noise, expected in (([0, 0, 0, 0], 1), ([1.5, 0, 0, 0], 0), ([0, 0, 0, 0.3], 3), ([9, 0, 0, 0.3], 0)):
        assert Sample().choose(p, nothing, torch.tensor([noise], dtype=torch.float64))[0].item() == expected
    assert Sample(top_k=2).choose(p, nothing, torch.tensor([[9.0, 0, 9, 0.3]]))[0].item() == 3


def test_clear_is_what_a_small_change_cannot_turn():
    p, nothing = torch.tensor([[0.5, 0.3, 0.2]], dtype=torch.float64).log(), torch.zeros(1, 0, dtype=torch.long)
    noise = torch.zeros(1, 3, dtype=torch.float64)
    assert Sample().choose(p, nothing, noise, 0.4)[1].item()  # 0.51 nats ahead
    assert not Sample().choose(p, nothing, noise, 0.6)[1].item()
    lifted = torch.tensor([[0.0, 9.0, 0.0]], dtype=torch.float64)
    assert not Sample(top_p=0.5 - 1e-4).choose(p, nothing, lifted, 1e-3)[1].item()  # the second is all but in
    assert Sample(top_p=0.4).choose(p, nothing, lifted, 1e-3)[1].item()
    assert not Sample(top_k=1).choose(torch.tensor([[-1.0, -1.00001, -9.0]]), nothing, lifted, 1e-3)[1].item()


@pytest.mark.parametrize("decoder", [Sample(), Sample(temperature=0.7, top_k=5, min_p=0.02), Sample(top_p=0.8)])
def test_frequencies_match_the_distribution(decoder):
    """20,000 draws: chi-squared with at most 7 degrees of freedom is below 24.3 but for one seed in a thousand."""
    rows = 20_000
    p = torch.tensor([0.3, 0.2, 0.15, 0.12, 0.1, 0.08, 0.04, 0.01])
    noise = gumbel(keys(5, torch.arange(rows)), 3, 8)
    nothing = torch.zeros(rows, 0, dtype=torch.long)
    counts = decoder.choose(p.log().expand(rows, -1), nothing, noise)[0].bincount(minlength=8).double()
    expected = rows * decoder.distribution(p.log()[None], NOTHING)[0]
    assert (counts[expected == 0] == 0).all() and (expected > 0).sum() >= 4
    kept = expected > 0
    assert ((counts - expected)[kept].square() / expected[kept]).sum() < 24.3


def test_greedy_is_the_likeliest_and_the_first_of_equals():
    p = torch.tensor([[0.1, 0.2, 0.7], [0.4, 0.4, 0.2], [0.2, 0.4, 0.4]]).log()
    assert Greedy().choose(p, torch.zeros(3, 0, dtype=torch.long), p)[0].tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    "setting",
    [{"temperature": 0.0}, {"top_k": -1}, {"top_p": 0.0}, {"top_p": 1.5}, {"min_p": 1.0}, {"repetition": 0.0}],
)
def test_settings_that_mean_nothing(setting):
    name = next(iter(setting))
    with pytest.raises(UserError, match=f"^decoder sample: {name}=.*; allowed: "):
        Sample(**setting)
