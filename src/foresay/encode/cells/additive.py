"""The additive cell (lecture 003): the state changes by what is added, so error passes to all predecessors.

    d  = tanh(x W + h U + b)
    h' = h + d

x (B, T, D) -> y (B, T, H); state h (B, H).
"""

from __future__ import annotations

from torch import Tensor

from foresay.encode.cells.cell import Cell
from foresay.kernels.recurrent.maths import Returned
from foresay.parts import part


@part("cell", "additive")
class Additive(Cell):
    """h' = h + tanh(x W + h U + b)."""

    gates = ("d",)

    def __init__(self) -> None:
        super().__init__()

    def step(self, d: Tensor, h: Tensor) -> Returned:
        d = d.tanh()
        return {"h": h + d, "d": d}
