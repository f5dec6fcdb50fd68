"""What the losses that set the target against drawn symbols have in common.

Every position of a batch meets the same S symbols, so that their scores are one product. Biases begin at the log of
the symbols' shares of the training text: a symbol that is hardly ever drawn would else stay where it began.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from foresay.output.noise import Draws, Noise
from foresay.output.rows import Rows, log_shares, mean_over
from foresay.parts import Amount, Rate


class Drawn(Rows):
    """`against(own (N,), others (N, S), targets (N,), drawn (S,))` gives the loss of each position."""

    def __init__(
        self,
        number: Draws = 500,
        power: Amount = 0.75,
        *,
        tied: bool = False,
        bias: bool = True,
        bound: Rate | None = None,
    ):
        super().__init__(tied=tied, bias=bias, bound=bound)
        self.wants_counts = True
        self.number, self.power = number, power

    def build(self, in_width: int, vocabulary: int, table: nn.Parameter | None = None) -> None:
        super().build(in_width, vocabulary, table)
        self.noise = Noise(vocabulary, self.power)

    def learn_counts(self, counts: np.ndarray) -> None:
        self.noise.learn(counts)
        if self.bias is not None:
            with torch.no_grad():
                self.bias.copy_(self.first_bias(torch.from_numpy(log_shares(counts))))

    def first_bias(self, shares: Tensor) -> Tensor:
        """Where biases begin, by the log of the symbols' shares."""
        return shares

    def loss(self, features: Tensor, targets: Tensor, mask: Tensor | None = None) -> Tensor:
        h, ids = self.inner(features).flatten(0, -2), targets.flatten()
        drawn = self.noise.draw(self.number)
        return mean_over(self.against(self.score_own(h, ids), self.score_shared(h, drawn), ids, drawn), mask)

    def against(self, own: Tensor, others: Tensor, targets: Tensor, drawn: Tensor) -> Tensor:
        raise AssertionError(f"{type(self).__name__} has no against")

    def log_expected(self, ids: Tensor, like: Tensor) -> Tensor:
        """log (S q(v)): how often a symbol is expected among those drawn."""
        return self.noise.log_q[ids].to(like.dtype) + float(np.log(self.number))
