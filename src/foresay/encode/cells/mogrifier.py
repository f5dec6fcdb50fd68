"""Mogrifier LSTM (Melis et al. 2020): before each step the input and the state gate each other, in turn.

    x1 = 2 sigmoid(h Q1) * x,   h2 = 2 sigmoid(x1 R2) * h,   x3 = 2 sigmoid(h2 Q3) * x1, ...    `rounds` of them
    i, f, o, c~, c', h' as in the LSTM, from the last x and the last h

x (B, T, D) -> y (B, T, H); states h, c, each (B, H).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from foresay.encode.cells.cell import Cell, Method
from foresay.kernels.recurrent.maths import Returned
from foresay.parts import Size, part


@part("cell", "mogrifier")
class Mogrifier(Cell):
    """LSTM whose input and state gate each other before each step."""

    states = ("h", "c")

    def __init__(self, *, rounds: Size = 5, forget_bias: float = 1.0) -> None:
        super().__init__()
        self.rounds, self.forget_bias = rounds, forget_bias
        self.gates = (*(f"turn{n}" for n in range(1, rounds + 1)), "i", "f", "g", "o")
        self.unfed = self.gates
        self.vectors = ("bias_i", "bias_f", "bias_g", "bias_o")

    def build(self, in_width: int, size: int) -> None:
        self.in_width = in_width
        super().build(in_width, size)
        torch.nn.init.constant_(self.get_parameter("bias_f"), self.forget_bias)

    def widths(self) -> Mapping[str, int]:
        return {f"turn{n}": self.in_width for n in range(1, self.rounds + 1, 2)}

    def methods(self) -> list[Method]:
        methods, x, h = [], "x", "h"
        for n in range(1, self.rounds + 1):
            gated, by = (x, h) if n % 2 else (h, x)
            methods.append(Method(f"turn{n}", _turn(n), (f"turn{n}", gated), {f"turn{n}": (by,)}))
            x, h = (f"x{n}", h) if n % 2 else (x, f"h{n}")
        reads = ("i", "f", "g", "o", "c", *self.vectors)
        methods.append(Method("remember", _remember, reads, dict.fromkeys("ifgo", (x, h))))
        return methods


def _turn(n: int) -> Callable[[Tensor, Tensor], Returned]:
    def turn(gate: Tensor, gated: Tensor) -> Returned:
        return {f"{'x' if n % 2 else 'h'}{n}": 2 * gate.sigmoid() * gated}

    return turn


def _remember(
    i: Tensor, f: Tensor, g: Tensor, o: Tensor, c: Tensor, bi: Tensor, bf: Tensor, bg: Tensor, bo: Tensor
) -> Returned:
    i, f, g, o = (i + bi).sigmoid(), (f + bf).sigmoid(), (g + bg).tanh(), (o + bo).sigmoid()
    c = f * c + i * g
    return {"h": o * c.tanh(), "c": c, "i": i, "f": f, "g": g, "o": o}
