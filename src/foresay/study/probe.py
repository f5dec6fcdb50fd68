"""Linear probe: how much of a label a straight cut through vectors tells (Alain and Bengio 2016).

    P(k | x) = softmax_k(z W + b),   z = (x - mean) / deviation, as measured where it is fitted
    W, b minimise  mean of -log P(label)  +  penalty / 2 ||W||^2

The minimum is one (the penalty makes it so), found by L-BFGS from zero in float64: nothing is drawn. What counts is the
accuracy on vectors that the probe was not fitted to.

x (N, D), labels (N,) -> Probe.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

PENALTY = 1e-3


@dataclass(frozen=True)
class Probe:
    """A fitted one; `weight` (D, K) is of the standardised vectors."""

    mean: Tensor
    deviation: Tensor
    weight: Tensor
    bias: Tensor

    def scores(self, x: Tensor) -> Tensor:
        """(N, D) -> (N, K)."""
        return (x.double() - self.mean) / self.deviation @ self.weight + self.bias

    def accuracy(self, x: Tensor, labels: Tensor) -> float:
        """The share of labels that have the highest score."""
        return float((self.scores(x).argmax(1) == labels).double().mean())


def fit(x: Tensor, labels: Tensor, kinds: int, *, penalty: float = PENALTY, iterations: int = 100) -> Probe:
    """The probe of vectors (N, D) for labels (N,) below `kinds`."""
    x = x.detach().double()
    mean, deviation = x.mean(0), x.std(0, correction=0)
    deviation = torch.where(deviation > 1e-12, deviation, 1.0)  # a number that never changes says nothing
    z = (x - mean) / deviation
    weight = torch.zeros(x.shape[1], kinds, dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(kinds, dtype=torch.float64, requires_grad=True)
    search = torch.optim.LBFGS([weight, bias], max_iter=iterations, tolerance_grad=1e-6, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        search.zero_grad()
        found = F.cross_entropy(z @ weight + bias, labels) + penalty / 2 * weight.square().sum()
        found.backward()
        return found

    with torch.enable_grad():
        search.step(loss)
    return Probe(mean, deviation, weight.detach(), bias.detach())
