"""minGRU (Feng et al. 2024): a GRU whose gates see x only, so that all steps are computed at once.

    z  = sigmoid(x Wz + bz)
    h~ = g(x W + b)
    h' = (1 - z) * h + z * h~

g(v) is v + 1/2 for v >= 0 and sigmoid(v) below, which keeps h positive, as in the paper's experiments; or v itself.
1 - z is computed as sigmoid(-(x Wz + bz)): exact also where z is next to 1. The paper scans logarithms; the scan here
multiplies and adds, which is safe at all values, so `candidate: identity` is too.

x (B, T, D) -> y (B, T, H); state h (B, H). Gates lie in the order z, h~.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from foresay.encode.cells.cell import stage
from foresay.encode.cells.scanned import Scanned
from foresay.kernels.recurrent.maths import Returned
from foresay.parts import part


def positive(v: Tensor) -> Tensor:
    """v + 1/2 for v >= 0, sigmoid(v) below: positive, and its slope never vanishes above 0."""
    return torch.where(v >= 0, v + 0.5, v.sigmoid())


CANDIDATES = {"positive": positive, "identity": lambda v: v}


@part("cell", "mingru")
class MinGRU(Scanned):
    """GRU whose gates see x only: all steps at once."""

    gates = ("z", "n")

    def __init__(self, *, candidate: Literal["positive", "identity"] = "positive") -> None:
        super().__init__()
        self.candidate = CANDIDATES[candidate]

    @stage(z="", n="")
    def admit(self, z: Tensor, n: Tensor) -> Returned:
        n, keep, z = self.candidate(n), (-z).sigmoid(), z.sigmoid()
        return {"keep": keep, "add": z * n, "z": z, "n": n}

    @stage()
    def remember(self, keep: Tensor, add: Tensor, h: Tensor) -> Returned:
        return {"h": keep * h + add}
