"""What a masked language model hides while it learns (Devlin et al. 2019).

    u ~ uniform(0, 1) for each symbol; hidden where u <= share, and of these

        <mask>            with probability `masked`
        another symbol    with probability `replaced`, any but the marks, evenly
        as it is          else

With `whole_words` u is drawn for each word, so that its pieces are hidden together; what becomes of each piece is its
own. At least one symbol of a batch is hidden. All is drawn from torch's own generator, as dropout is, so a resumed run
goes on with the same numbers.

targets (B, T), mask (B, T), starts (B, T) -> what is read (B, T), which are to be predicted (B, T).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Ge, Gt, Le, Lt
from torch import Tensor

from foresay.errors import UserError
from foresay.text.tokens import MASK, SPECIALS

Portion = Annotated[float, Ge(0), Le(1)]


@dataclass(frozen=True)
class Masking:
    """How much is hidden, and behind what."""

    share: Annotated[float, Gt(0), Lt(1)] = 0.15
    masked: Portion = 0.8
    replaced: Portion = 0.1
    whole_words: bool = False

    def check(self) -> None:
        if self.masked + self.replaced > 1 + 1e-9:
            raise UserError(
                f"masking.masked={self.masked:g} and masking.replaced={self.replaced:g} are shares of what is hidden "
                "and sum to more than 1; lower one of them"
            )

    @property
    def turns(self) -> int:
        """Passes in which every symbol is hidden once, about `share` of them at a time."""
        return max(round(1 / self.share), 1)


def hide(
    targets: Tensor, mask: Tensor | None, starts: Tensor | None, how: Masking, vocabulary: int, edges: Tensor | None
) -> tuple[Tensor, Tensor]:
    """What is read in place of the targets, and where they are to be predicted."""
    u = torch.rand(targets.shape, device=targets.device)
    if edges is not None:
        u = u.gather(1, word_begins(targets, edges, starts))
    if mask is not None:
        u = u.masked_fill(~mask, 2.0)
    hidden = u <= u.amin().clamp(min=how.share, max=1.0)
    chance = torch.rand(targets.shape, device=targets.device)
    covered, changed = chance < how.masked, chance >= 1 - how.replaced
    read = torch.where(hidden & changed, others(targets, vocabulary), targets)
    return read.masked_fill(hidden & covered & ~changed, MASK), hidden


def others(targets: Tensor, vocabulary: int) -> Tensor:
    """For each symbol another one, evenly among all that are no marks."""
    first = len(SPECIALS)
    marks = targets < first  # such as <stop>: none is among what is drawn, so nothing is left out for it
    many = (vocabulary - first - (~marks).long()).clamp(min=1)
    drawn = first + (torch.rand(targets.shape, device=targets.device, dtype=torch.float64) * many).long()
    return (drawn + (~marks & (drawn >= targets))).clamp(max=vocabulary - 1)


def word_begins(targets: Tensor, edges: Tensor, starts: Tensor | None) -> Tensor:
    """Of each symbol the step where its word began, (B, T)."""
    opens, closes = edges[targets].unbind(-1)
    begins = torch.ones_like(targets, dtype=torch.bool)
    begins[:, 1:] = (opens[:, 1:] == 0) | (opens[:, 1:] != closes[:, :-1])
    if starts is not None:
        begins |= starts
    steps = torch.arange(targets.shape[1], device=targets.device).expand_as(targets)
    return steps.where(begins, 0).cummax(1).values


def gathered(hidden: Tensor, how: Masking) -> tuple[Tensor, Tensor]:
    """The places (K,) of what is hidden in the flat batch, then others up to a fixed K, and which are hidden.

    K depends on the batch's shape alone, so that a GPU need not wait: the mean and six deviations (twelve for words,
    which vary more). What is beyond, as good as never, is hidden and not asked for.
    """
    mean = hidden.numel() * how.share
    most = min(hidden.numel(), math.ceil(mean + (12 if how.whole_words else 6) * math.sqrt(mean)) + 1)
    places = (~hidden).flatten().int().argsort(stable=True)[:most]
    return places, hidden.flatten()[places]
