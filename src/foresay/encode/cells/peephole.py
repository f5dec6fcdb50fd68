"""Peephole LSTM (Gers and Schmidhuber 2000; lecture 004): the gates look at the memory itself.

    i  = sigmoid(x Wi + h Ui + c Vi + bi)
    f  = sigmoid(x Wf + h Uf + c Vf + bf)
    c~ = tanh(x Wc + h Uc + bc)
    c' = f * c + i * c~
    o  = sigmoid(x Wo + h Uo + c' Vo + bo)      o sees the new memory
    h' = o * tanh(c')

`peephole` has full matrices V, as the lecture writes it; `peephole-diagonal` has one number for each unit, as the
paper: c Vi becomes c * pi.

x (B, T, D) -> y (B, T, H); states h, c, each (B, H). Gates lie in the order i, f, c~, o.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from foresay.encode.cells.cell import Cell, stage
from foresay.kernels.recurrent.maths import Returned
from foresay.parts import part


class _Peephole(Cell):
    states = ("h", "c")
    gates = ("i", "f", "g", "o")

    def __init__(self, *, forget_bias: float = 1.0) -> None:
        super().__init__()
        self.forget_bias = forget_bias

    def biases(self) -> Mapping[str, float]:
        return {"f": self.forget_bias}


@part("cell", "peephole")
class Peephole(_Peephole):
    """LSTM whose gates see the memory through full matrices."""

    def __init__(self, *, forget_bias: float = 1.0) -> None:
        super().__init__(forget_bias=forget_bias)

    @stage(i="h c", f="h c", g="h")
    def remember(self, i: Tensor, f: Tensor, g: Tensor, c: Tensor) -> Returned:
        i, f, g = i.sigmoid(), f.sigmoid(), g.tanh()
        return {"c": f * c + i * g, "i": i, "f": f, "g": g}

    @stage(o="h new_c")
    def show(self, o: Tensor, new_c: Tensor) -> Returned:
        o = o.sigmoid()
        return {"h": o * new_c.tanh(), "o": o}


@part("cell", "peephole-diagonal")
class PeepholeDiagonal(_Peephole):
    """LSTM whose gates see their own unit's memory."""

    vectors = ("peep_i", "peep_f", "peep_o")

    def __init__(self, *, forget_bias: float = 1.0) -> None:
        super().__init__(forget_bias=forget_bias)

    def build_vectors(self) -> None:
        super().build_vectors()
        bound = self.size**-0.5
        for name in self.vectors:
            torch.nn.init.uniform_(self.get_parameter(name), -bound, bound)

    def step(
        self, i: Tensor, f: Tensor, g: Tensor, o: Tensor, c: Tensor, peep_i: Tensor, peep_f: Tensor, peep_o: Tensor
    ) -> Returned:
        i, f, g = (i + peep_i * c).sigmoid(), (f + peep_f * c).sigmoid(), g.tanh()
        c = f * c + i * g
        o = (o + peep_o * c).sigmoid()
        return {"h": o * c.tanh(), "c": c, "i": i, "f": f, "g": g, "o": o}
