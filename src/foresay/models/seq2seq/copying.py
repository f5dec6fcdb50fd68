"""Copying: some of the probability goes to the symbols of the source, as much as is looked at their places.

    P(w) = g P_own(w) + (1 - g) sum_{t: x_t = w} alpha_t,     g = sigmoid(gate)

in logarithms, exactly; a symbol that the source does not hold keeps log g + log P_own(w).

weights (B, T, S), source (B, S), gate (B, T, 1)
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def mass_of(weights: Tensor, source: Tensor, targets: Tensor) -> Tensor:
    """How much is looked at the places that hold each target: targets (B, T) -> (B, T)"""
    return weights.masked_fill(source[:, None] != targets[:, :, None], 0).sum(-1)


def mass_of_all(weights: Tensor, source: Tensor, vocabulary: int) -> Tensor:
    """The same for every symbol: (B, T, S) -> (B, T, V)"""
    rows, steps, places = weights.shape
    where = source[:, None].expand(rows, steps, places)
    return weights.new_zeros(rows, steps, vocabulary).scatter_add(2, where, weights)


def mixed(own: Tensor, gate: Tensor, mass: Tensor) -> Tensor:
    """log P of a mixture: log P_own, the gate and the mass copied, of one shape."""
    tiny = torch.finfo(mass.dtype).tiny
    log_mass = torch.where(mass > 0, mass.clamp(min=tiny).log(), -torch.inf)  # no gradient where there is none
    return torch.logaddexp(F.logsigmoid(gate) + own, F.logsigmoid(-gate) + log_mass)
