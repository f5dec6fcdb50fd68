"""Choosing the next symbol: greedy, or drawn from the filtered distribution (SPEC H1).

    temperature   log P / t                       top_k     the k likeliest
    top_p         the fewest that hold mass p     min_p     those with P >= min_p * max P
    repetition    log P of what was written before is multiplied by r (> 1 makes it rarer)
    typical       the fewest that hold mass p, those first whose -log P is nearest to its mean (Meister et al. 2023)

They apply in the order repetition, temperature, top_k, min_p, typical, top_p, each to what the one before has left.
Among equals the lower id comes first.

The symbol with the largest log P + noise is chosen, of those left; the noise is a row's own (chance.py). With a margin
`choose` also says which choices are clear: they stay the same if no log P changes by more than half of it. Without one
it says nothing: None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import torch
from annotated_types import Gt, Le
from torch import Tensor

from foresay.decode.best import largest
from foresay.kernels.switch import plain
from foresay.parts import Count, Part, Rate, Share, part

Mass = Annotated[float, Gt(0), Le(1)]
NONE = -torch.inf


class Decoder(Part):
    """`choose(log_probs (B, V), written (B, L), noise (B, V), margin) -> ids (B,), clear (B,) or None`."""

    part_kind = "decoder"
    draws = True  # False: it needs no noise

    def choose(
        self, log_probs: Tensor, written: Tensor, noise: Tensor, margin: float = 0.0
    ) -> tuple[Tensor, Tensor | None]:
        raise AssertionError(f"{type(self).__name__} has no choose")


@part("decoder", "greedy")
class Greedy(Decoder):
    """Always the likeliest symbol; the lowest id among equals."""

    draws = False

    def choose(
        self, log_probs: Tensor, written: Tensor, noise: Tensor, margin: float = 0.0
    ) -> tuple[Tensor, Tensor | None]:
        return first_of(log_probs, margin)


@part("decoder", "sample")
class Sample(Decoder):
    """Draws from the distribution, filtered by temperature, top-k, top-p, min-p, typical mass and repetition."""

    def __init__(
        self,
        temperature: Rate = 1.0,
        top_k: Count = 0,
        top_p: Mass = 1.0,
        min_p: Share = 0.0,
        typical: Mass = 1.0,
        repetition: Rate = 1.0,
    ):
        self.temperature, self.top_k, self.top_p = temperature, top_k, top_p
        self.min_p, self.typical, self.repetition = min_p, typical, repetition

    def choose(
        self, log_probs: Tensor, written: Tensor, noise: Tensor, margin: float = 0.0
    ) -> tuple[Tensor, Tensor | None]:
        scores, slack = self.scores(log_probs, written), margin * max(self.repetition, 1.0) / self.temperature
        chosen, clear = first_of(self.filtered(scores) + noise, slack)
        if clear is not None and len(self._filters()):
            for one in (-slack, slack):  # were the edges of what is left a little higher, or lower
                clear &= (self.filtered(scores, one) + noise).argmax(1) == chosen
        return chosen, clear

    def distribution(self, log_probs: Tensor, written: Tensor) -> Tensor:
        """The probabilities (B, V) actually drawn from, in float64."""
        return self.filtered(self.scores(log_probs, written)).softmax(1)

    def scores(self, log_probs: Tensor, written: Tensor) -> Tensor:
        """log P after repetition and temperature, up to a number for each row."""
        scores = log_probs.double()
        if self.repetition != 1.0:
            seen = torch.zeros_like(scores, dtype=torch.bool).scatter_(1, written, True)
            scores = torch.where(seen, scores * self.repetition, scores)
        return (scores - scores.amax(1, keepdim=True)) / self.temperature  # the top stays finite for any t

    def filtered(self, scores: Tensor, slack: float = 0.0) -> Tensor:
        """The scores of what is left, -inf for the rest; with slack, edges lie so much lower."""
        for filter in self._filters():
            scores = filter(scores, slack)
        return scores

    def _filters(self) -> list[Callable[[Tensor, float], Tensor]]:
        on = ((self.top_k > 0, self._top_k), (self.min_p > 0.0, self._min_p))
        on += ((self.typical < 1.0, self._typical), (self.top_p < 1.0, self._top_p))
        return [filter for wanted, filter in on if wanted]

    def _top_k(self, scores: Tensor, slack: float) -> Tensor:
        best, places = largest(scores, self.top_k)
        if slack:
            return scores.masked_fill(scores < best[:, -1:] - slack, NONE)
        return torch.full_like(scores, NONE).scatter(1, places, best)

    def _min_p(self, scores: Tensor, slack: float) -> Tensor:
        edge = scores.amax(1, keepdim=True) + torch.tensor(self.min_p, dtype=scores.dtype).log().item()
        return scores.masked_fill(scores < edge - slack, NONE)

    def _typical(self, scores: Tensor, slack: float) -> Tensor:
        logs = scores.log_softmax(1)
        mean = -(logs.exp() * logs.masked_fill(logs == NONE, 0.0)).sum(1, keepdim=True)
        return _within(scores, -(-logs - mean).abs(), self.typical, slack)

    def _top_p(self, scores: Tensor, slack: float) -> Tensor:
        return _within(scores, scores, self.top_p, slack)


def _within(scores: Tensor, ranks: Tensor, mass: float, slack: float) -> Tensor:
    """The scores of the fewest symbols of highest rank that hold the mass."""
    ranked, order = ranks.sort(dim=1, descending=True, stable=True)
    held = scores.softmax(1).gather(1, order)
    inside = held.cumsum(1) - held < mass + slack  # the mass before it is not yet enough
    inside[:, 0] = True
    if slack:
        edge = ranked.masked_fill(~inside, torch.inf).amin(1, keepdim=True)
        return scores.masked_fill(ranks < edge - slack, NONE)
    return scores.masked_fill(~torch.zeros_like(inside).scatter(1, order, inside), NONE)


def first_of(scores: Tensor, margin: float) -> tuple[Tensor, Tensor | None]:
    """The place of the largest number of each row, the lowest among equals; whether it is ahead by the margin."""
    chosen = _largest(scores)
    if not margin:
        return chosen, None
    if scores.shape[1] < 2:
        return chosen, torch.ones_like(chosen, dtype=torch.bool)
    best = scores.topk(2, 1).values
    return chosen, (best[:, 1] == NONE) | (best[:, 0] - best[:, 1] > margin)


def _largest(scores: Tensor) -> Tensor:
    """The place of the largest number of each row; torch's own takes long for few rows of many on a GPU."""
    if not scores.is_cuda or plain():
        return scores.argmax(1)
    from foresay.kernels import choose_triton  # there is no Triton without a GPU

    return choose_triton.argmax(scores)[0]
