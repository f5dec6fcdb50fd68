"""Sampled softmax: which of 1 + S symbols came from the text, when the others were drawn from q?

    D(v) = s_v - log q_v        loss = - log  exp D(w) / (exp D(w) + sum_i exp D(i)),   i ~ q, S times

The best s is log P up to a number for each position, for any S (Ma and Collins 2018); for many draws the gradient
is the softmax's own. So a target that is drawn too stays among the others: with "accidental hits" removed, frequent
symbols would come out too likely.

features (..., H) -> log_probs (..., V).
"""

from __future__ import annotations

import torch
from torch import Tensor

from foresay.output.drawn import Drawn
from foresay.parts import part


@part("output", "sampled")
class Sampled(Drawn):
    """Softmax over the target and `number` symbols drawn in proportion to (count + 1) ** power."""

    def against(self, own: Tensor, others: Tensor, targets: Tensor, drawn: Tensor) -> Tensor:
        own, others = own - self.log_expected(targets, own), others - self.log_expected(drawn, others)
        return torch.cat([own[:, None], others], 1).logsumexp(1) - own
