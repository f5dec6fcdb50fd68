"""From a text to a finished n-gram model: count, leave out, estimate, lay out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from foresay.counts.count import LIMIT, Tokens, count
from foresay.counts.prune import common_enough, take, without_the_needless
from foresay.counts.smoothing import Smoothing
from foresay.counts.table import Table, build
from foresay.errors import UserError
from foresay.text.tokens import STOP

BLOCK = 1 << 20  # tokens looked through at a time


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
    check_cut(cut, order)
    if prune and not smoothing.backs_off:
        raise UserError(
            f"prune {prune:g} with smoothing {smoothing.part_name}, which does not back off to shorter contexts; "
            "use witten-bell, absolute, kneser-ney, modified-kneser-ney or katz"
        )
    if not len(tokens):
        raise UserError("the text is empty; give one line or more")
    longest = longest_document(tokens, order)
    if longest < order:
        raise UserError(
            f"order {order}, but no document has {order} words, <start> and <stop> counted: the longest has {longest}; "
            f"use an order of at most {longest}"
        )
    grams = count(tokens, order, vocabulary, limit, tell)
    keep = common_enough(grams, list(cut))
    estimate = smoothing.estimate(grams, keep)
    if cut:
        grams, estimate = take(grams, estimate, keep)
    if prune:
        grams, estimate = without_the_needless(grams, estimate, prune)
    return build(grams, estimate), estimate.notes


def check_cut(cut: Sequence[int], order: int) -> None:
    """Refuses cut-offs that fall, or more than there are orders for."""
    if list(cut) != sorted(cut) or len(cut) >= order:
        raise UserError(
            f"cut {list(cut)} with order {order}: a number for 2-grams, 3-grams and so on, at most {order - 1}, "
            "and none smaller than the one before it"
        )


def longest_document(tokens: Tokens, enough: int) -> int:
    """The words of the longest document, <start> and <stop> counted; the text is read until one has `enough`."""
    longest, begin = 0, 0  # where the document begins that the next block goes on with
    for low in range(0, len(tokens), BLOCK):
        ends = low + 1 + np.flatnonzero(tokens.slice(low, min(low + BLOCK, len(tokens))) == STOP)
        places = np.append(ends, min(low + BLOCK, len(tokens)))
        lengths = np.diff(places, prepend=begin)
        longest = max(longest, 1 + int(lengths.max()))
        begin = int(ends[-1]) if len(ends) else begin
        if longest >= enough:
            break
    return longest
