"""LSTM (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000).

    i, f, o = sigmoid(x W + h U + b)     each with its own W, U, b
    c~ = tanh(x Wc + h Uc + bc)
    c' = f * c + i * c~
    h' = o * tanh(c')

Gates lie in torch's order i, f, c~, o. The forget gate's bias begins at `forget_bias` in all (torch has two biases; the
second begins at 0), so that a new network remembers (Jozefowicz et al. 2015).

x (B, T, D) -> y (B, T, H); states h, c, each (B, H).
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from foresay.encode.cells.torch_weights import TorchCell
from foresay.kernels.recurrent.maths import Returned
from foresay.parts import part


@part("cell", "lstm")
class LSTM(TorchCell):
    """Long short-term memory, as torch's."""

    states = ("h", "c")
    gates = ("i", "f", "g", "o")
    function = "lstm"

    def __init__(self, *, forget_bias: float = 1.0) -> None:
        super().__init__()
        self.forget_bias = forget_bias

    def biases(self) -> Mapping[str, float]:
        return {"f": self.forget_bias}

    def step(self, i: Tensor, f: Tensor, g: Tensor, o: Tensor, c: Tensor) -> Returned:
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        c = f * c + i * g
        return {"h": o * c.tanh(), "c": c, "i": i, "f": f, "g": g, "o": o}
