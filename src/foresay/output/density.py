"""What every density keeps: features (..., H) -> a distribution over the numbers x (..., D) of one step.

    p(x) = sum_k w_k prod_d f(x_d; theta_kd)        w = softmax of K numbers, theta from one linear map of the features

With one component the D numbers are independent given the features; several let them depend on each other, as all are
drawn from one of them. A number that is NaN is not known and counts nothing. A part gives f: its log (`entry`), its
mean (`middle`) and its inverse distribution function (`inverse`), from P numbers for each component and entry.

Numbers are drawn by inverting: u (..., D + 1) between 0 and 1, the first of which chooses the component. With a
temperature t the component is drawn from w^(1/t), and each f is narrowed as its part says.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from foresay.parts import Part


class Density(Part, nn.Module):
    """`build(in_width, width)` fixes the sizes; `log_prob`, `loss`, `draw`, `sample` and `mean` of x (..., D)."""

    part_kind = "density"
    numbers = 1  # P: what theta has for each component and entry
    scaled = True  # False: values are taken as they are; True: with mean 0 and deviation 1
    mixtures: int  # K

    def build(self, in_width: int, width: int) -> None:
        self.width = width
        self.linear = nn.Linear(in_width, self.mixtures * (1 + width * self.numbers))
        with torch.no_grad():
            begun = self.begun(self.mixtures).repeat(1, width).view(self.mixtures, width, self.numbers)
            nn.init.normal_(self.linear.weight, std=0.5 / math.sqrt(in_width))
            self.linear.bias.copy_(torch.cat([torch.zeros(self.mixtures), begun.flatten()]))

    def begun(self, mixtures: int) -> Tensor:
        """What theta begins as for each component, the same for all entries: (K, P)."""
        return torch.zeros(mixtures, self.numbers)

    def entry(self, theta: Tensor, x: Tensor) -> Tensor:
        """log f(x; theta): (..., P) and x (...) -> (...)."""
        raise AssertionError(f"{type(self).__name__} has no entry")

    def middle(self, theta: Tensor) -> Tensor:
        """The mean of f: (..., P) -> (...)."""
        raise AssertionError(f"{type(self).__name__} has no middle")

    def inverse(self, theta: Tensor, u: Tensor, temperature: float = 1.0) -> Tensor:
        """The value below which f holds the mass u: (..., P) and u (...) -> (...)."""
        raise AssertionError(f"{type(self).__name__} has no inverse")

    def begin_at(self, means: Tensor) -> None:
        """Told the means (D,) of what is to come, where values are taken as they are; the first loss is of them."""

    def check(self, least: float, most: float, whole: bool, name: str) -> None:
        """Refuses a column of values that can have no probability: the least, the most, whether all are whole."""

    def log_prob(self, features: Tensor, x: Tensor) -> Tensor:
        """log p of each step, (..., H) and (..., D) -> (...); of what is known of it alone."""
        weights, theta = self._mixture(features)
        known = ~x.isnan()
        each = self.entry(theta, x.nan_to_num()[..., None, :].to(theta.dtype))
        each = each.masked_fill(~known[..., None, :], 0.0).sum(-1)
        return (weights + each).logsumexp(-1)

    def loss(self, features: Tensor, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Mean -log p over the steps of which something is known; 0 when there are none."""
        counted = (~x.isnan()).any(-1)
        counted = counted if mask is None else counted & mask
        log_prob = self.log_prob(features, x).masked_fill(~counted, 0.0)
        return -log_prob.sum() / counted.sum().clamp(min=1)

    def mean(self, features: Tensor) -> Tensor:
        """E[x], (..., H) -> (..., D)."""
        weights, theta = self._mixture(features)
        return (weights.exp()[..., None] * self.middle(theta)).sum(-2)

    def draw(self, features: Tensor, u: Tensor, temperature: float = 1.0) -> Tensor:
        """x (..., D) by inverting u (..., D + 1); at temperature 0 the middle of the likeliest component."""
        weights, theta = self._mixture(features)
        if temperature == 0:
            chosen = weights.argmax(-1)
            return self.middle(self._picked(theta, chosen))
        edges = (weights / temperature).softmax(-1).cumsum(-1)
        chosen = (u[..., :1].to(edges.dtype) >= edges).sum(-1).clamp(max=self.mixtures - 1)
        theta = self._picked(theta, chosen)
        return self.inverse(theta, u[..., 1:].to(theta.dtype), temperature)

    def sample(self, features: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """One step for each row of features, (..., H) -> (..., D)."""
        shape = (*features.shape[:-1], self.width + 1)
        u = torch.rand(shape, generator=generator, dtype=torch.float64, device=features.device)
        return self.draw(features, u.clamp(1e-12, 1 - 1e-12))

    def _mixture(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """log w (..., K) and theta (..., K, D, P), in float32 at least."""
        found = self.linear(features)
        found = found.float() if found.dtype in (torch.bfloat16, torch.float16) else found
        weights, theta = found.split([self.mixtures, self.mixtures * self.width * self.numbers], -1)
        return weights.log_softmax(-1), theta.unflatten(-1, (self.mixtures, self.width, self.numbers))

    @staticmethod
    def _picked(theta: Tensor, chosen: Tensor) -> Tensor:
        """theta of one component for each step: (..., K, D, P) -> (..., D, P)."""
        at = chosen[..., None, None, None].expand(*chosen.shape, 1, *theta.shape[-2:])
        return theta.gather(-3, at).squeeze(-3)


def spread_means(mixtures: int) -> Tensor:
    """Where the components of a mixture begin, (K,): apart from each other, or they would stay alike."""
    return torch.linspace(-1.0, 1.0, mixtures) if mixtures > 1 else torch.zeros(1)
