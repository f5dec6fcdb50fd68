"""sLSTM (Beck et al. 2024): an LSTM with exponential gates, kept in range by a running maximum m and a normaliser n.

    i, f = x W + h U + b         as logarithms of the gates; f goes through log sigmoid
    z = tanh(x Wz + h Uz + bz),  o = sigmoid(x Wo + h Uo + bo)
    m' = max(f + m, i)
    c' = exp(f + m - m') * c + exp(i - m') * z
    n' = exp(f + m - m') * n + exp(i - m')
    h' = o * c' / n'

One head: the recurrent matrix is full. x (B, T, D) -> y (B, T, H); states h, c, n, m, each (B, H).
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from foresay.encode.cells.cell import Cell
from foresay.kernels.recurrent.maths import Returned
from foresay.parts import part


@part("cell", "slstm")
class SLSTM(Cell):
    """LSTM with exponential gates and a normaliser."""

    states = ("h", "c", "n", "m")
    gates = ("i", "f", "z", "o")

    def __init__(self, *, forget_bias: float = 3.0) -> None:
        super().__init__()
        self.forget_bias = forget_bias

    def biases(self) -> Mapping[str, float]:
        return {"f": self.forget_bias}

    def step(self, i: Tensor, f: Tensor, z: Tensor, o: Tensor, c: Tensor, n: Tensor, m: Tensor) -> Returned:
        f, z, o = F.logsigmoid(f) + m, z.tanh(), o.sigmoid()
        highest = torch.maximum(f, i)
        forget, admit = (f - highest).exp(), (i - highest).exp()
        c, n = forget * c + admit * z, forget * n + admit
        return {"h": o * c / n, "c": c, "n": n, "m": highest, "forget": forget, "admit": admit, "z": z, "o": o}
