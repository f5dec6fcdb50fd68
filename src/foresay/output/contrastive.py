"""Noise-contrastive estimation (Gutmann and Hyvärinen 2010; Mnih and Teh 2012): was it the text, or the noise?

    D(v) = s_v - log S q_v        loss = - log sigmoid(D(w)) - sum_i log sigmoid(-D(i)),   i ~ q

The best s is log P itself, already normalised; scoring normalises it all the same, so that it is exact at any time.

features (..., H) -> log_probs (..., V).
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from foresay.output.drawn import Drawn
from foresay.parts import part


@part("output", "nce")
class Contrastive(Drawn):
    """The target told from `number` symbols drawn in proportion to (count + 1) ** power."""

    def against(self, own: Tensor, others: Tensor, targets: Tensor, drawn: Tensor) -> Tensor:
        own = own - self.log_expected(targets, own)
        others = others - self.log_expected(drawn, others)
        return F.softplus(-own) + F.softplus(others).sum(1)
