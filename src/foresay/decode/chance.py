"""Random numbers that depend on a seed, a row, a step and a symbol alone: the same in any batch and on any device.

Gumbel's: the symbol with the largest  log P + g,  g = -log(-log u),  is drawn with probability P. A choice by inverting
the cumulative distribution hangs on its last bits wherever two symbols meet; this one only where the two best do.
"""

from __future__ import annotations

import torch
from torch import Tensor

STEPS = float(1 << 53)  # numbers between 0 and 1 that float64 tells apart
GOLDEN, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # SplitMix64's


def signed(number: int) -> int:
    """The last 64 bits of a number, as torch writes them."""
    return (number + 2**63) % 2**64 - 2**63


def mixed(x: Tensor) -> Tensor:
    """SplitMix64's bijection of 64 bits."""
    x = (x ^ _shifted(x, 30)) * signed(FIRST)
    x = (x ^ _shifted(x, 27)) * signed(SECOND)
    return x ^ _shifted(x, 31)


def _shifted(x: Tensor, bits: int) -> Tensor:
    return (x >> bits) & ((1 << (64 - bits)) - 1)


def keys(seed: int, rows: Tensor) -> Tensor:
    """A key for each row, (B,)."""
    begun = torch.full_like(rows, signed(seed))
    return mixed(mixed(begun) + rows * signed(GOLDEN))


def gumbel(keys: Tensor, step: Tensor | int, symbols: int) -> Tensor:
    """(B, V) of float64, for one step."""
    return -torch.log(-torch.log(uniform(keys, step, symbols)))


def uniform(keys: Tensor, step: Tensor | int, numbers: int) -> Tensor:
    """(B, N) of float64 between 0 and 1, neither of them, for one step."""
    own = mixed(keys + torch.as_tensor(step + 1) * signed(GOLDEN))[:, None]
    bits = mixed(own + torch.arange(1, numbers + 1, device=keys.device) * signed(GOLDEN))
    return (_shifted(bits, 11).double() + 0.5) / STEPS
