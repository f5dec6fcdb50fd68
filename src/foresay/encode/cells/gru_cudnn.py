"""GRU in the form that cuDNN and torch compute: reset after the product, with biases.

    r  = sigmoid(x Wr + br + h Ur + cr)
    z  = sigmoid(x Wz + bz + h Uz + cz)
    h~ = tanh(x W + b + r * (h U + c))
    h' = (1 - z) * h~ + z * h            z keeps; in the lecture's form it admits

x (B, T, D) -> y (B, T, H); state h (B, H). Gates lie in torch's order r, z, h~.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from foresay.encode.cells.cell import Cell, Memory
from foresay.parts import part


@part("cell", "gru-cudnn")
class GRUCudnn(Cell):
    """Gated recurrent unit, reset after the product, as torch's."""

    gates = 3
    fused = torch.gru

    def __init__(self) -> None:
        super().__init__()

    def step(self, projected: Tensor, state: Memory) -> Memory:
        h, two = state["h"], 2 * self.size
        recurrent = F.linear(h, self.weight_hh, self.bias_hh)
        r, z = (projected[:, :two] + recurrent[:, :two]).sigmoid().chunk(2, 1)
        new = (projected[:, two:] + r * recurrent[:, two:]).tanh()
        return {"h": new + z * (h - new)}
