"""GRU in the form that cuDNN and torch compute: reset after the product, with biases.

    r  = sigmoid(x Wr + br + h Ur + cr)
    z  = sigmoid(x Wz + bz + h Uz + cz)
    h~ = tanh(x W + b + r * (h U + c))
    h' = (1 - z) * h~ + z * h            z keeps; in the lecture's form it admits

x (B, T, D) -> y (B, T, H); state h (B, H). Gates lie in torch's order r, z, h~; `old` is h U, which does not see x.
"""

from __future__ import annotations

import torch
from torch import Tensor

from foresay.encode.cells.cell import stage
from foresay.encode.cells.torch_weights import TorchCell
from foresay.kernels.recurrent.maths import Returned
from foresay.parts import part


@part("cell", "gru-cudnn")
class GRUCudnn(TorchCell):
    """Gated recurrent unit, reset after the product, as torch's."""

    gates = ("r", "z", "n", "old")
    unfed = ("old",)
    vectors = ("old_bias",)
    function = "gru"

    def __init__(self) -> None:
        super().__init__()

    @stage(r="h", z="h", n="", old="h")
    def step(self, r: Tensor, z: Tensor, n: Tensor, old: Tensor, h: Tensor, old_bias: Tensor) -> Returned:
        r, z = r.sigmoid(), z.sigmoid()
        n = (n + r * (old + old_bias)).tanh()
        return {"h": n + z * (h - n), "r": r, "z": z, "n": n}

    def bias(self) -> Tensor:
        assert self.bias_ih is not None
        both = 2 * self.size  # r and z add both biases, h~ only the inputs'
        return self.bias_ih + torch.cat([self.bias_hh[:both], torch.zeros_like(self.bias_hh[both:])])

    def build_vectors(self) -> None:
        """The one there is lies in torch's bias_hh."""

    def vector(self, name: str) -> Tensor:
        return self.bias_hh[2 * self.size :]
