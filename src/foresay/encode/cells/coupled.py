"""Coupled-gate LSTM (Greff et al. 2015; lecture 004): one gate both forgets and admits.

    f  = sigmoid(x Wf + h Uf + bf)
    c~ = tanh(x Wc + h Uc + bc)
    c' = f * c + (1 - f) * c~
    o  = sigmoid(x Wo + h Uo + bo)
    h' = o * tanh(c')

x (B, T, D) -> y (B, T, H); states h, c, each (B, H). Gates lie in the order f, c~, o.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from foresay.encode.cells.cell import Cell
from foresay.kernels.recurrent.maths import Returned
from foresay.parts import part


@part("cell", "coupled")
class Coupled(Cell):
    """LSTM with i = 1 - f: three gates instead of four."""

    states = ("h", "c")
    gates = ("f", "g", "o")

    def __init__(self, *, forget_bias: float = 1.0) -> None:
        super().__init__()
        self.forget_bias = forget_bias

    def biases(self) -> Mapping[str, float]:
        return {"f": self.forget_bias}

    def step(self, f: Tensor, g: Tensor, o: Tensor, c: Tensor) -> Returned:
        f, g, o = f.sigmoid(), g.tanh(), o.sigmoid()
        c = g + f * (c - g)
        return {"h": o * c.tanh(), "c": c, "f": f, "g": g, "o": o}
