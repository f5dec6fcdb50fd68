"""minLSTM (Feng et al. 2024): an LSTM whose gates see x only, so that all steps are computed at once.

    f, i = sigmoid(x W + b)      each with its own W, b
    h~ = g(x Wh + bh)
    h' = f / (f + i) * h + i / (f + i) * h~

The two shares are computed from the logarithms of the gates, f / (f + i) = sigmoid(log f - log i): exact also where
both gates are next to 0. g as in minGRU. The forget gate's bias begins at `forget_bias`: 1 keeps 0.59 of h at first.

x (B, T, D) -> y (B, T, H); state h (B, H). Gates lie in the order f, i, h~.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import torch.nn.functional as F
from torch import Tensor

from foresay.encode.cells.cell import stage
from foresay.encode.cells.mingru import CANDIDATES
from foresay.encode.cells.scanned import Scanned
from foresay.kernels.recurrent.maths import Returned
from foresay.parts import part


@part("cell", "minlstm")
class MinLSTM(Scanned):
    """LSTM whose gates see x only: all steps at once."""

    gates = ("f", "i", "n")

    def __init__(self, *, candidate: Literal["positive", "identity"] = "positive", forget_bias: float = 1.0) -> None:
        super().__init__()
        self.candidate, self.forget_bias = CANDIDATES[candidate], forget_bias

    def biases(self) -> Mapping[str, float]:
        return {"f": self.forget_bias}

    @stage(f="", i="", n="")
    def admit(self, f: Tensor, i: Tensor, n: Tensor) -> Returned:
        more = F.logsigmoid(f) - F.logsigmoid(i)
        n, keep, share = self.candidate(n), more.sigmoid(), (-more).sigmoid()
        return {"keep": keep, "add": share * n, "f": f.sigmoid(), "i": i.sigmoid(), "n": n}

    @stage()
    def remember(self, keep: Tensor, add: Tensor, h: Tensor) -> Returned:
        return {"h": keep * h + add}
