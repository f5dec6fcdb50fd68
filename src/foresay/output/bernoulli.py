"""Bernoulli outputs: numbers that are 0 or 1, such as the keys of a piano or pixels in black and white.

    y[m] = sigma(b[m] + sum_i v[m, i] h[i])        P(x) = prod_m y[m]^x[m] (1 - y[m])^(1 - x[m])

With several mixtures P is a mixture of such products, and notes of a step depend on each other. A temperature t divides
what stands in sigma.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from foresay.errors import UserError
from foresay.output.density import Density
from foresay.parts import Size, part

RARE = 1e-3  # the least share of ones or zeros that is begun with


@part("density", "bernoulli")
class Bernoulli(Density):
    """Each number 0 or 1 with a probability of its own, or a mixture of such products."""

    scaled = False

    def __init__(self, *, mixtures: Size = 1) -> None:
        super().__init__()
        self.mixtures = mixtures

    def begin_at(self, means: Tensor) -> None:
        with torch.no_grad():
            bias = self.linear.bias[self.mixtures :].view(self.mixtures, self.width)
            bias += means.clamp(RARE, 1 - RARE).logit()

    def entry(self, theta: Tensor, x: Tensor) -> Tensor:
        return x * theta[..., 0] - F.softplus(theta[..., 0])

    def middle(self, theta: Tensor) -> Tensor:
        return theta[..., 0].sigmoid()

    def inverse(self, theta: Tensor, u: Tensor, temperature: float = 1.0) -> Tensor:
        return (u < (theta[..., 0] / temperature).sigmoid()).to(theta.dtype)

    def draw(self, features: Tensor, u: Tensor, temperature: float = 1.0) -> Tensor:
        found = super().draw(features, u, temperature)
        return (found > 0.5).to(found.dtype) if temperature == 0 else found

    def check(self, least: float, most: float, whole: bool, name: str) -> None:
        if not (least >= 0 and most <= 1 and whole):
            raise UserError(
                f"output=bernoulli is of 0 and 1, and {name} has {'' if whole else 'parts of '}numbers from {least:g} "
                f"to {most:g}; take output=gaussian"
            )
