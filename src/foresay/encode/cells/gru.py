"""GRU in the form of Cho et al. 2014 and of the lecture: no biases, reset before the product.

    z  = sigmoid(x Wz + h Uz)
    r  = sigmoid(x Wr + h Ur)
    h~ = tanh(x W + (r * h) U)
    h' = (1 - z) * h + z * h~

The form that cuDNN computes (reset after the product, biases, z and 1 - z exchanged) is `gru-cudnn`.

x (B, T, D) -> y (B, T, H); state h (B, H). Gates lie in the order z, r, h~.
"""

from __future__ import annotations

from torch import Tensor

from foresay.encode.cells.cell import Cell, stage
from foresay.kernels.recurrent.maths import Returned
from foresay.parts import part


@part("cell", "gru")
class GRU(Cell):
    """Gated recurrent unit, reset before the product, no biases."""

    gates = ("z", "r", "n")
    biased = False

    def __init__(self) -> None:
        super().__init__()

    @stage(z="h", r="h")
    def reset(self, z: Tensor, r: Tensor, h: Tensor) -> Returned:
        r = r.sigmoid()
        return {"z": z.sigmoid(), "r": r, "rh": r * h}

    @stage(n="rh")
    def update(self, z: Tensor, n: Tensor, h: Tensor) -> Returned:
        n = n.tanh()
        return {"h": h + z * (n - h), "n": n}
