"""Noise that depends on seed, row, step and symbol alone, and is Gumbel's."""

from __future__ import annotations

import torch

from foresay.decode.chance import gumbel, keys, mixed, signed


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
