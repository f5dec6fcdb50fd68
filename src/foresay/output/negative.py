"""Negative sampling (Mikolov et al. 2013), as an output layer: noise-contrastive estimation without log S q.

    loss = - log sigmoid(s_w) - sum_i log sigmoid(-s_i),   i ~ q

The best s is log P(v) - log S q(v), so the distribution that was learnt is P(v) in proportion to q(v) exp s_v: that is
what `log_prob` and `log_probs` give. Biases begin at -log S q + log share, where P is the symbols' share of the text.

features (..., H) -> log_probs (..., V).
"""

from __future__ import annotations

import numpy as np
import torch.nn.functional as F
from torch import Tensor

from foresay.output.drawn import Drawn
from foresay.output.rows import full
from foresay.parts import part


@part("output", "negative")
class Negative(Drawn):
    """The target against `number` symbols drawn in proportion to (count + 1) ** power, each a yes or no."""

    def first_bias(self, shares: Tensor) -> Tensor:
        return shares - self.noise.log_q - float(np.log(self.number))

    def against(self, own: Tensor, others: Tensor, targets: Tensor, drawn: Tensor) -> Tensor:
        return F.softplus(-own) + F.softplus(others).sum(1)

    def raw(self, h: Tensor) -> Tensor:
        logits = full(super().raw(h))
        return logits + self.noise.log_q.to(logits.dtype)
