"""Monte-Carlo gradient of the softmax: an expectation over the vocabulary becomes a mean over S symbols drawn from P.

    d log P(w) = d s_w - E_{v~P} d s_v  ~  d s_w - 1/S sum_i d s_{v_i},    v_i ~ P

Without bias, its variance falls as 1/S. The scores of all symbols are computed, without a gradient, to draw from P, so
the loss that is reported is the exact one; the gradient goes through 1 + S rows instead of V.

features (..., H) -> log_probs (..., V).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from foresay.kernels.linear_cross_entropy import row_chunks
from foresay.kernels.taken import taken
from foresay.output.noise import Draws
from foresay.output.rows import Begin, Rows, full, mean_over
from foresay.parts import Rate, part


@part("output", "monte-carlo")
class MonteCarlo(Rows):
    """Softmax whose gradient is estimated from `number` symbols drawn from the model itself."""

    def __init__(
        self,
        number: Draws = 20,
        *,
        tied: bool = False,
        bias: bool = True,
        bound: Rate | None = None,
        begin: Begin = "zero",
    ):
        super().__init__(tied=tied, bias=bias, bound=bound, begin=begin)
        self.number = number

    def loss(self, features: Tensor, targets: Tensor, mask: Tensor | None = None) -> Tensor:
        h, ids = self.inner(features).flatten(0, -2), targets.flatten()
        exact, drawn = self._draw(h.detach(), ids)
        # a bag is the mean of the rows drawn: the S scores of a position are never apart
        rows = full((h * F.embedding_bag(drawn, self.weight, mode="mean")).sum(1))
        estimate = rows - self.score_own(h, ids)
        if self.bias is not None:
            estimate = estimate + taken(self.bias, drawn).mean(1)
        return mean_over(
            exact + (estimate - estimate.detach()), mask
        )  # the value of the one, the gradient of the other

    @torch.no_grad()
    def _draw(self, h: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
        """-log P of the targets (N,), and S symbols from P for each position (N, S)."""
        losses, drawn = [h.new_zeros(0)], [ids.new_zeros(0, self.number)]
        for rows in row_chunks(len(h), len(self.weight), h.device):
            logs = self.logits(h[rows]).log_softmax(1)
            losses.append(-logs.gather(1, ids[rows, None])[:, 0])
            drawn.append(torch.multinomial(logs.exp_(), self.number, replacement=True))
        return torch.cat(losses), torch.cat(drawn)
