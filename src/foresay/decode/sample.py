"""Choosing the next symbol: greedy, or drawn from the filtered distribution (SPEC H1).

    temperature   log P / t                       top_k   the k likeliest
    top_p         the fewest that hold mass p     min_p   those with P >= min_p * max P
    repetition    log P of what was written before is multiplied by r (> 1 makes it rarer)

They apply in the order repetition, temperature, top_k, min_p, top_p. Among equals the lower id comes first.

Each row draws one uniform number from a generator of its own and takes the symbol where the cumulative
distribution passes it, so that a row's text does not depend on its neighbours.
"""

from __future__ import annotations

from typing import Annotated

import torch
from annotated_types import Gt, Le
from torch import Tensor

from foresay.parts import Count, Rate, Share, part

Mass = Annotated[float, Gt(0), Le(1)]


class Decoder:
    """`choose(log_probs (B, V), written (B, L), draws (B,)) -> ids (B,)`."""

    part_kind = "decoder"

    def choose(self, log_probs: Tensor, written: Tensor, draws: Tensor) -> Tensor:
        raise AssertionError(f"{type(self).__name__} has no choose")


@part("decoder", "greedy")
class Greedy(Decoder):
    """Always the likeliest symbol; the lowest id among equals."""

    def choose(self, log_probs: Tensor, written: Tensor, draws: Tensor) -> Tensor:
        return log_probs.argmax(1)


@part("decoder", "sample")
class Sample(Decoder):
    """Draws from the distribution, filtered by temperature, top-k, top-p, min-p and repetition."""

    def __init__(
        self,
        temperature: Rate = 1.0,
        top_k: Count = 0,
        top_p: Mass = 1.0,
        min_p: Share = 0.0,
        repetition: Rate = 1.0,
    ):
        self.temperature, self.top_k, self.top_p = temperature, top_k, top_p
        self.min_p, self.repetition = min_p, repetition

    def choose(self, log_probs: Tensor, written: Tensor, draws: Tensor) -> Tensor:
        probabilities, order = self.distribution(log_probs, written).sort(dim=1, descending=True, stable=True)
        passed = (probabilities.cumsum(1) <= draws[:, None]).sum(1, keepdim=True)
        last = (probabilities > 0).sum(1, keepdim=True) - 1  # rounding must not pick an excluded one
        return order.gather(1, passed.minimum(last))[:, 0]

    def distribution(self, log_probs: Tensor, written: Tensor) -> Tensor:
        """The probabilities (B, V) actually drawn from, in float64."""
        scores = log_probs.double()
        if self.repetition != 1.0:
            seen = torch.zeros_like(scores, dtype=torch.bool).scatter_(1, written, True)
            scores = torch.where(seen, scores * self.repetition, scores)
        scores = (scores - scores.amax(1, keepdim=True)) / self.temperature  # the top stays finite for any t
        if 0 < self.top_k < scores.shape[1]:
            outside = scores.sort(dim=1, descending=True, stable=True).indices[:, self.top_k :]
            scores = scores.scatter(1, outside, -torch.inf)
        probabilities = scores.softmax(1)
        if self.min_p > 0.0:
            floor = self.min_p * probabilities.amax(1, keepdim=True)
            probabilities = probabilities.masked_fill(probabilities < floor, 0.0)
        if self.top_p < 1.0:
            ranked, order = probabilities.sort(dim=1, descending=True, stable=True)
            outside = ranked.cumsum(1) - ranked >= self.top_p  # the mass before it is already enough
            probabilities = probabilities.scatter(1, order, ranked.masked_fill(outside, 0.0))
        return probabilities / probabilities.sum(1, keepdim=True)
