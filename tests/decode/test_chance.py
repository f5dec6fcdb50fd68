"""Noise that depends on seed, row, step and symbol alone, and is Gumbel's."""

from __future__ import annotations

import torch

from foresay.decode.chance import gumbel, keys, mixed, signed, uniform


def test_splitmix_as_published():
    """The first numbers of SplitMix64 from seed 1234567 (Vigna's reference code)."""
    golden = 0x9E3779B97F4A7C15
    states = torch.tensor([signed(1234567 + n * golden) for n in range(1, 6)])
    found = [number % 2**64 for number in mixed(states).tolist()]
    assert found == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_a_row_is_its_own():
    whole = gumbel(keys(7, torch.arange(5)), 2, 11)
    assert torch.equal(gumbel(keys(7, torch.tensor([3])), 2, 11)[0], whole[3])
    assert torch.equal(gumbel(keys(7, torch.arange(5)), 2, 4), whole[:, :4])
    others = [gumbel(keys(8, torch.arange(5)), 2, 11), gumbel(keys(7, torch.arange(5)), 3, 11), whole.roll(1, 0)]
    assert all((other != whole).all() for other in others)


def test_it_is_gumbels():
    """Kolmogorov and Smirnov: the greatest distance of 100,000 numbers from exp(-exp(-g)) is under 1.95 / sqrt(n)."""
    found = gumbel(keys(1, torch.arange(100)), 0, 1000).flatten().sort().values
    expected = torch.exp(-torch.exp(-found))
    at = torch.arange(1, len(found) + 1) / len(found)
    assert (expected - at).abs().max() < 1.95 / len(found) ** 0.5
    assert torch.isfinite(found).all()


def test_uniform_numbers_are_uniform_and_each_of_its_own():
    """Between 0 and 1, neither; mean, variance and correlations as they are to be; no two alike."""
    found = torch.stack([uniform(keys(3, torch.arange(500)), step, 40) for step in range(10)])
    assert found.min() > 0 and found.max() < 1 and len(found.unique()) == found.numel()
    error = (1 / 12 / found.numel()) ** 0.5
    assert abs(found.mean() - 0.5) < 4 * error and abs(found.var() - 1 / 12) < 4 * error
    apart = found - 0.5
    for one, other in ((apart[1:], apart[:-1]), (apart[:, 1:], apart[:, :-1]), (apart[..., 1:], apart[..., :-1])):
        assert abs((one * other).mean()) < 4 / 12 / one.numel() ** 0.5
    assert torch.equal(uniform(keys(3, torch.tensor([7])), 2, 5)[0], found[2, 7, :5])
