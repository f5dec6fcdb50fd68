"""From a text to a finished n-gram model: count, leave out, estimate, lay out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from foresay.counts.count import LIMIT, Tokens, count
from foresay.counts.prune import common_enough, take, without_the_needless
from foresay.counts.smoothing import Smoothing
from foresay.counts.table import Table, build
from foresay.errors import UserError


def train(
    tokens: Tokens,
    vocabulary: int,
    order: int,
    smoothing: Smoothing,
    *,
    cut: Sequence[int] = (),
    prune: float = 0.0,
    limit: int = LIMIT,
    tell: Callable[[float], None] | None = None,
) -> tuple[Table, list[str]]:
    """The model, and what a person should know of it."""
    if list(cut) != sorted(cut) or len(cut) >= order:
        raise UserError(
            f"cut {list(cut)} with order {order}: a number for 2-grams, 3-grams and so on, at most {order - 1}, "
            "and none smaller than the one before it"
        )
    if prune and not smoothing.backs_off:
        raise UserError(
            f"prune {prune:g} with smoothing {smoothing.part_name}, which does not back off to shorter contexts; "
            "use witten-bell, absolute, kneser-ney, modified-kneser-ney or katz"
        )
    grams = count(tokens, order, vocabulary, limit, tell)
    longest = max((n for n, found in enumerate(grams, 1) if found.count.any()), default=0)
    if longest < order:
        raise UserError(
            f"order {order}, but no document has {order} words, <start> and <stop> counted: the longest has {longest}; "
            f"use an order of at most {longest}"
        )
    keep = common_enough(grams, list(cut))
    estimate = smoothing.estimate(grams, keep)
    if cut:
        grams, estimate = take(grams, estimate, keep)
    if prune:
        grams, estimate = without_the_needless(grams, estimate, prune)
    return build(grams, estimate), estimate.notes
