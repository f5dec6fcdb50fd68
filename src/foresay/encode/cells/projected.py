"""LSTM with a projection (Sak et al. 2014): a wide memory, a narrow output that is fed back.

    i, f, o, c~, c' as in the LSTM, from x and r
    m  = o * tanh(c')
    r' = m P

The output r is the state called h, `projection` wide; the memory c is as wide as the encoder.

x (B, T, D) -> y (B, T, projection); states h (B, projection), c (B, H).
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from foresay.encode.cells.cell import Cell, stage
from foresay.kernels.recurrent.maths import Returned
from foresay.parts import Size, part


@part("cell", "lstm-projected")
class Projected(Cell):
    """LSTM whose output is projected to fewer units before it is fed back."""

    states = ("h", "c")
    gates = ("i", "f", "g", "o", "r")
    unfed = ("r",)

    def __init__(self, *, projection: Size, forget_bias: float = 1.0) -> None:
        super().__init__()
        self.projection, self.forget_bias = projection, forget_bias

    def widths(self) -> Mapping[str, int]:
        return {"h": self.projection, "r": self.projection}

    def biases(self) -> Mapping[str, float]:
        return {"f": self.forget_bias}

    @stage(i="h", f="h", g="h", o="h")
    def remember(self, i: Tensor, f: Tensor, g: Tensor, o: Tensor, c: Tensor) -> Returned:
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        c = f * c + i * g
        return {"c": c, "shown": o * c.tanh(), "i": i, "f": f, "g": g, "o": o}

    @stage(r="shown")
    def project(self, r: Tensor) -> Returned:
        return {"h": r}
