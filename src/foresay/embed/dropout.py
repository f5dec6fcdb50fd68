"""Dropout on vectors over time, x (B, T, D) -> (B, T, D): each entry on its own, or locked.

    x' = x * m / (1 - share),  m = 1 with probability 1 - share, else 0

Locked (variational) dropout draws m once for each row and unit, (B, 1, D), and keeps it for all steps (Gal and
Ghahramani 2016).
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from foresay.kernels.dropout import dropout


def drop(x: Tensor, share: float, training: bool, *, locked: bool = False) -> Tensor:
    """Dropout while training, nothing otherwise."""
    if not locked or not training or share == 0.0:
        return dropout(x, share, training)
    return x * F.dropout(x.new_ones(len(x), 1, x.shape[2]), share)
