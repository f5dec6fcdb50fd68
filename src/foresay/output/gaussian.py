"""Gaussian densities, one or a mixture of them (Bishop 1994; Graves 2013).

    f(x; m, s) = exp(-(x - m)^2 / 2 d^2) / (d sqrt(2 pi))        d = softplus(s) + least

`least` keeps a component from closing on a single value, where its density would grow without end; it is in units of
the data's deviation. A temperature t takes d to d sqrt(t), which is f^(1/t).
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from foresay.output.density import Density, spread_means
from foresay.parts import Rate, Size, part

ONE = math.log(math.e - 1)  # softplus of it is 1


@part("density", "gaussian")
class Gaussian(Density):
    """One Gaussian, or a mixture of several: mean and deviation of every number."""

    numbers = 2

    def __init__(self, *, mixtures: Size = 1, least: Rate = 1e-3) -> None:
        super().__init__()
        self.mixtures, self.least = mixtures, least

    def begun(self, mixtures: int) -> Tensor:
        return torch.stack([spread_means(mixtures), torch.full((mixtures,), ONE)], 1)

    def entry(self, theta: Tensor, x: Tensor) -> Tensor:
        mean, deviation = self._of(theta)
        return -0.5 * ((x - mean) / deviation).square() - deviation.log() - 0.5 * math.log(2 * math.pi)

    def middle(self, theta: Tensor) -> Tensor:
        return theta[..., 0]

    def inverse(self, theta: Tensor, u: Tensor, temperature: float = 1.0) -> Tensor:
        mean, deviation = self._of(theta)
        return mean + deviation * math.sqrt(temperature) * torch.special.ndtri(u)

    def _of(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        return theta[..., 0], F.softplus(theta[..., 1]) + self.least
