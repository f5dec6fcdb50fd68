"""Discretised logistics: levels as the numbers they are, a mixture of logistic densities cut at the levels' edges.

    P(level l) = P(a level) sum_k w_k [F_k(l + 1/2) - F_k(l - 1/2)]        F_k(x) = sigmoid((x - m_k) / d_k)
    m_k = (N - 1) / 2 (1 + a_k),   d_k = (N - 1) / 2 softplus(s_k) + least      l = 0 .. N-1

PixelCNN++ (Salimans et al. 2017). The edges are open, F(-1/2) = 0 and F(N - 1/2) = 1, so all levels have mass 1. A
softmax has a row for each level and must learn that near ones are alike; here a step costs 3 K numbers however many
levels there are. `least` is the least width of a component, in levels.

The marks (<stop> and the like) are no numbers: they and "a level" share a small softmax, so that all V symbols have
probability 1. There each colour of a pixel has a mixture of its own, told the colours before by the features; the
paper's three share their weights and lean on each other linearly.

As differences of F lose all digits far from m, with b = (l + 1/2 - m) / d and a = b - 1/d:

    log (F(b) - F(a)) = log sigmoid(b) + log sigmoid(-a) + log (1 - exp(-1/d))

The m_k begin at the quantiles of the training text's levels, the small softmax at the shares of what it tells apart.

features (..., H) -> log_probs (..., V), V = marks + N.
"""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.errors import UserError
from foresay.output.output import Output
from foresay.output.rows import full, log_shares, mean_over
from foresay.parts import Rate, Size, part
from foresay.text.tokens import SPECIALS

MARKS = len(SPECIALS)


@part("output", "logistics")
class Logistics(Output):
    """A mixture of logistic densities cut into levels, of pictures and sounds; near levels are alike."""

    wants_counts = True
    of_levels = True

    def __init__(self, mixtures: Size = 10, *, least: Rate = 0.05):
        super().__init__()
        self.mixtures, self.least = mixtures, least

    def build(self, in_width: int, vocabulary: int, table: nn.Parameter | None = None) -> None:
        self.number = vocabulary - MARKS
        if self.number < 2:
            raise UserError(f"output=logistics over {vocabulary} symbols; it needs {MARKS} marks and 2 levels or more")
        self.linear = nn.Linear(in_width, MARKS + 1 + 3 * self.mixtures)
        nn.init.normal_(self.linear.weight, std=0.5 / math.sqrt(in_width))
        self.learn_counts(np.zeros(vocabulary))

    def learn_counts(self, counts: np.ndarray) -> None:
        half, shares = (self.number - 1) / 2, np.cumsum(counts[MARKS:] + 1.0)
        places = (np.arange(self.mixtures) + 0.5) / self.mixtures * shares[-1]
        middles = np.searchsorted(shares, places) / half - 1
        wide = max(self.number / (2 * self.mixtures + 2) - self.least, self.least) / half
        marks = log_shares(np.append(counts[:MARKS], counts[MARKS:].sum()))
        widths = np.full(self.mixtures, math.log(math.expm1(wide)))
        with torch.no_grad():
            self.linear.bias.copy_(
                torch.from_numpy(np.concatenate([marks, np.zeros(self.mixtures), middles, widths])).float()
            )

    def loss(self, features: Tensor, targets: Tensor, mask: Tensor | None = None) -> Tensor:
        return mean_over(-self.log_prob(features, targets).flatten(), mask)

    def log_prob(self, features: Tensor, targets: Tensor) -> Tensor:
        kinds, *mixture = self._of(features)
        found = kinds.gather(-1, targets.clamp(max=MARKS)[..., None])[..., 0]
        level = (targets - MARKS).clamp(min=0)
        return torch.where(targets >= MARKS, found + self._mass(level, *mixture), found)

    def log_probs(self, features: Tensor) -> Tensor:
        kinds, *mixture = self._of(features)
        levels = torch.arange(self.number, device=features.device)
        mass = self._mass(levels, *(one[..., None, :] for one in mixture))
        return torch.cat([kinds[..., :MARKS], kinds[..., MARKS:] + mass], -1)

    def _of(self, features: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """log P of each mark and of a level (..., M+1); log w, m and d (..., K)."""
        kinds, weights, middle, wide = full(self.linear(features)).split([MARKS + 1, *[self.mixtures] * 3], -1)
        half = (self.number - 1) / 2
        return kinds.log_softmax(-1), weights.log_softmax(-1), half * (1 + middle), half * F.softplus(wide) + self.least

    def _mass(self, level: Tensor, weights: Tensor, middle: Tensor, wide: Tensor) -> Tensor:
        """log of a level's mass among all levels, (...) and (..., K) -> (...)."""
        level = level[..., None]
        below = F.logsigmoid((level + 0.5 - middle) / wide)
        above = F.logsigmoid((middle - level + 0.5) / wide)
        inside = below + above + (-torch.expm1(-1 / wide)).log()
        each = torch.where(level == 0, below, torch.where(level == self.number - 1, above, inside))
        return (weights + each).logsumexp(-1)
