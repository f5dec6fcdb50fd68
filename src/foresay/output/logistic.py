"""Logistic densities, one or a mixture of them: Gaussians with heavier tails, whose distribution function is closed.

    F(x; m, s) = 1 / (1 + exp(-(x - m) / d))        f = dF/dx        d = softplus(s) + least

Their deviation is d pi / sqrt(3). A temperature t takes d to d sqrt(t).
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from foresay.output.density import Density, spread_means
from foresay.parts import Rate, Size, part

ONE = math.log(math.expm1(math.sqrt(3) / math.pi))  # softplus of it gives a deviation of 1


@part("density", "logistic")
class Logistic(Density):
    """One logistic density, or a mixture of several: middle and width of every number."""

    numbers = 2

    def __init__(self, *, mixtures: Size = 1, least: Rate = 1e-3) -> None:
        super().__init__()
        self.mixtures, self.least = mixtures, least

    def begun(self, mixtures: int) -> Tensor:
        return torch.stack([spread_means(mixtures), torch.full((mixtures,), ONE)], 1)

    def entry(self, theta: Tensor, x: Tensor) -> Tensor:
        middle, wide = self._of(theta)
        z = (x - middle) / wide
        return F.logsigmoid(z) + F.logsigmoid(-z) - wide.log()

    def middle(self, theta: Tensor) -> Tensor:
        return theta[..., 0]

    def inverse(self, theta: Tensor, u: Tensor, temperature: float = 1.0) -> Tensor:
        middle, wide = self._of(theta)
        return middle + wide * math.sqrt(temperature) * torch.logit(u)

    def _of(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        return theta[..., 0], F.softplus(theta[..., 1]) + self.least
