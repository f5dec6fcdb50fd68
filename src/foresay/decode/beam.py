"""Beam search: the K best beginnings are extended by every symbol, and the K best of these go on.

Candidates are kept by S = sum of log P, temperature inside. Of all extensions,

    those that end with <stop> and are among the K best of all leave the beam for the finished list;
    the K best of the others go on.

It ends at L_max, where the live ones are cut and join the list; or, by `until`, when `best` are finished ("number"), or
when in addition no live one can come before the last of them any more ("sure": S / L^alpha of a live one can become
S / L_max^alpha at best). The list is then ordered by S / L^alpha.

With `groups`, K / groups candidates search in turn at every step; one loses `diversity` of its S for each earlier group
that has just chosen its symbol (Vijayakumar et al. 2018); what is returned is without the loss. With R required symbols
K candidates are kept for each number of them that is already there (as in grid beam search, Hokamp and Liu 2017), and
<stop> waits for all.

All prompts of a batch go through the model together. A row's numbers may then differ in their last bits from those it
has alone, so a choice is sure only if it was clear by a margin; a prompt that met an unsure one is searched again by
itself, and that is its result. So it is the same in any batch, as long as rounding stays below half of the margin.

prompts (B) -> candidates (B, M), M = (R + 1) K: groups, in each the numbers of required symbols, the best first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import torch
from annotated_types import Gt, Le

from foresay.decode.beams import Beams, Trail
from foresay.decode.given import alone
from foresay.decode.search import Alpha, Found, Limits, Search, margin_for
from foresay.errors import UserError
from foresay.parts import Amount, Rate, Size, part

Width = Annotated[int, Gt(0), Le(10_000)]


@part("search", "beam")
class Beam(Search):
    """The `width` best beginnings at every step; the `best` sequences at the end."""

    def __init__(
        self,
        width: Width = 5,
        best: Width = 1,
        alpha: Alpha = 0.0,
        temperature: Rate = 1.0,
        until: Literal["sure", "number", "length"] = "sure",
        groups: Size = 1,
        diversity: Amount = 0.5,
    ):
        if width % groups:
            raise UserError(f"groups={groups} of width={width}; allowed: a number that divides the width")
        self.width, self.best, self.alpha, self.temperature = width, best, alpha, temperature
        self.until, self.groups, self.diversity = until, groups, diversity

    @torch.inference_mode()
    def find(
        self, model: Any, prompts: Sequence[Sequence[int]], limits: Limits, trail: Trail | None = None
    ) -> list[list[Found]]:
        """`trail` is filled with every step of the first prompt's search."""
        if not prompts:
            return []
        found, sure = Beams(self, model, prompts, limits, trail).run()
        if len(prompts) > 1 and not model.steady and margin_for(model):
            for row in [row for row, clear in enumerate(sure) if not clear]:
                found[row] = self.find(alone(model, row), [prompts[row]], limits)[0]
        return found
