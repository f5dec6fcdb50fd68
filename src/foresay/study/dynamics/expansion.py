"""A linear recurrent network written out: what each input says to the last state (lecture 004).

    h_T = W^T h_0 + sum_{d=0}^{T-1} W^d (U x_{T-d} + b)         h = W h + U x + b, g the identity

Each term is computed by itself, so that one sees how much of an input is left after d steps.

x (B, T, D), h_0 (B, H) -> terms (T + 1, B, H): term d is of x_{T-d}, the last one of h_0; their sum is h_T.
"""

from __future__ import annotations

import torch
from torch import Tensor

from foresay.encode.cells.elman import ACTIVATIONS, Elman
from foresay.errors import UserError


@torch.no_grad()
def expand(cell: Elman, x: Tensor, first: Tensor | None = None) -> Tensor:
    """The terms of h_T, the nearest input first."""
    if cell.activate is not ACTIVATIONS["identity"]:
        given = next(name for name, activate in ACTIVATIONS.items() if activate is cell.activate)
        raise UserError(f"activation={given} cannot be written out as a sum; allowed: activation=identity")
    fed = x @ cell.weight_ih.T + cell.bias()
    terms = [fed.new_zeros(len(x), cell.size) if first is None else first, *fed.unbind(1)]
    power, found = torch.eye(cell.size, dtype=fed.dtype), []
    for term in reversed(terms[1:]):
        found.append(term @ power.T)
        power = power @ cell.weight_hh
    return torch.stack([*found, terms[0] @ power.T])
