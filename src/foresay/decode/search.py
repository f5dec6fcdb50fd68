"""What every search for the best sequences keeps: the settings they share, and what they find.

The outcomes of writing at most L_max symbols are the sequences that end with <stop>, and those of L_max symbols that do
not: their probabilities sum to one. A search looks for the ones with the largest

    sum_t log P(y_t | prompt, y_1 .. y_{t-1}) / L^alpha          L = symbols written, <stop> too

where P is the model's distribution with the temperature inside: softmax(log P / temperature); the mass of a fused sum,
which is no distribution, stays what it is. Banned symbols are left out, without another norm: what is left keeps its
probability. With required symbols, sequences without one of them are left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import torch
from annotated_types import Ge, Le
from torch import Tensor

from foresay.errors import UserError
from foresay.parts import Part
from foresay.text.tokens import MASK, PAD, START, STOP, UNK

NEVER = (PAD, UNK, START, MASK)  # no text has these
Alpha = Annotated[float, Ge(0), Le(10)]  # L ** alpha stays a number
MARGIN = 1e-4  # nats that make a choice clear; float32 rounds sums of some hundred log-probabilities to less


@dataclass(frozen=True)
class Found:
    """A sequence and its score; `log_probs` has one for each id and, where it is finished, one for <stop>."""

    ids: list[int]
    log_probs: list[float]
    score: float  # sum of log_probs / L ** alpha
    finished: bool

    @property
    def log_prob(self) -> float:
        return math.fsum(self.log_probs)


@dataclass(frozen=True)
class Limits:
    """What a sequence may be: at most `length` symbols, at least `least`, without these, with those."""

    length: int
    least: int = 0
    banned: tuple[int, ...] = ()
    required: tuple[int, ...] = ()

    def checked(self, vocabulary: int) -> Limits:
        """Refuses what no sequence can keep."""
        for name, ids in (("banned", self.banned), ("required", self.required)):
            outside = [id for id in ids if not 0 <= id < vocabulary]
            if outside:
                raise UserError(f"{name} id {outside[0]}; allowed: 0 to {vocabulary - 1}, the vocabulary's")
        never = {*self.banned, *NEVER} & set(self.required)
        if never:
            raise UserError(f"id {min(never)} is required and never written; leave it out of one of them")
        if self.least > self.length:
            raise UserError(f"at least {self.least} symbols of at most {self.length}; allowed: least <= length")
        if len(set(self.required) - {STOP}) > self.length:
            raise UserError(f"{len(set(self.required))} required symbols in {self.length}; raise the length")
        return Limits(self.length, self.least, tuple(sorted(set(self.banned))), tuple(sorted(set(self.required))))

    def forbid(self, log_probs: Tensor, written: int) -> Tensor:
        """log P (..., V) of the next symbol after so many, with -inf for what may not follow."""
        log_probs[..., [*NEVER, *self.banned]] = -torch.inf
        if written < self.least:
            log_probs[..., STOP] = -torch.inf
        return log_probs


def margin_for(model: Any) -> float:
    """How clear a choice beside others must be; half precision rounds by more than any margin and is taken as it is."""
    model = getattr(model, "model", model)  # of one that is given its source
    parameter = next(iter(model.parameters()), None) if hasattr(model, "parameters") else None
    return 0.0 if parameter is not None and parameter.dtype in (torch.bfloat16, torch.float16) else MARGIN


class Search(Part):
    """`find(model, prompts, limits)` gives the best sequences for each prompt, best first."""

    part_kind = "search"
    temperature: float
    alpha: float

    def find(self, model: Any, prompts: Sequence[Sequence[int]], limits: Limits) -> list[list[Found]]:
        raise AssertionError(f"{type(self).__name__} has no find")

    def warmed(self, log_probs: Tensor) -> Tensor:
        """The distribution with the temperature inside, at least float32, a tensor of its own."""
        own = log_probs.double() if log_probs.dtype == torch.float64 else log_probs.float()
        if self.temperature == 1.0:
            return own.clone()
        mass = own.logsumexp(-1, keepdim=True)
        return torch.where(mass > -torch.inf, (own / self.temperature).log_softmax(-1) + mass, own)

    def normed(self, total: Any, length: Any) -> Any:
        """The score of a sequence, or of many of one length; both a number or a tensor."""
        if isinstance(length, Tensor):
            return total / length.clamp(min=1).to(total.dtype) ** self.alpha
        return total / max(length, 1) ** self.alpha


def nothing_possible(limits: Limits) -> UserError:
    """When every sequence has P = 0."""
    return UserError(
        f"no sequence of at most {limits.length} symbols has P > 0: {len(limits.banned)} symbols are banned, "
        f"{len(limits.required)} required; ban or require fewer, or raise the length"
    )
