"""Highway layer (Srivastava et al. 2015): a gate that says, unit by unit, what is changed and what passes as it is.

    t = sigmoid(x Wt + bt)
    y = t * relu(x Wh + bh) + (1 - t) * x

bt begins at -1: most of x passes.

x (..., D) -> y (..., D).
"""

from __future__ import annotations

from torch import Tensor, nn

from foresay.kernels.thin import linear


class Highway(nn.Module):
    """y = t * relu(x Wh + bh) + (1 - t) * x."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.change, self.gate = nn.Linear(width, width), nn.Linear(width, width)
        nn.init.constant_(self.gate.bias, -1.0)

    def forward(self, x: Tensor) -> Tensor:
        t = linear(self.gate, x).sigmoid()
        return t * linear(self.change, x).relu() + (1 - t) * x
