"""GRU in the form of Cho et al. 2014 and of the lecture: no biases, reset before the product.

    z  = sigmoid(x Wz + h Uz)
    r  = sigmoid(x Wr + h Ur)
    h~ = tanh(x W + (r * h) U)
    h' = (1 - z) * h + z * h~

The form that cuDNN computes (reset after the product, biases, z and 1 - z exchanged) is `gru-cudnn`.

x (B, T, D) -> y (B, T, H); state h (B, H). Gates lie in the order z, r, h~.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from foresay.encode.cells.cell import Cell, Memory
from foresay.parts import part


@part("cell", "gru")
class GRU(Cell):
    """Gated recurrent unit, reset before the product, no biases."""

    gates = 3
    biased = False

    def __init__(self) -> None:
        super().__init__()

    def step(self, projected: Tensor, state: Memory) -> Memory:
        h, two = state["h"], 2 * self.size
        z, r = (projected[:, :two] + F.linear(h, self.weight_hh[:two])).sigmoid().chunk(2, 1)
        new = (projected[:, two:] + F.linear(r * h, self.weight_hh[two:])).tanh()
        return {"h": h + z * (new - h)}
