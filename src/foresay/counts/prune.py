"""Smaller n-gram models: n-grams left out that were seen too rarely, or whose loss changes little.

An n-gram that others begin with stays as long as they do. What is left out is said by the shorter context, and what
that needs is worked out anew.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from foresay.counts.count import Grams
from foresay.counts.estimate import Estimate


def common_enough(grams: list[Grams], cut: list[int]) -> list[np.ndarray]:
    """For each order which n-grams were seen more often than `cut` says; the last number counts for all further orders.

    All single words stay.
    """
    keep = [np.ones(len(grams[0]), bool)]
    for n, order in enumerate(grams[1:]):
        keep.append(order.count > (cut[min(n, len(cut) - 1)] if cut else 0))
    return keep


def take(grams: list[Grams], estimate: Estimate, keep: list[np.ndarray]) -> tuple[list[Grams], Estimate]:
    """The n-grams to keep, in the same order, with their probabilities; contexts with all that they had."""
    taken, kept = [], dataclasses.replace(estimate, probs=[], backs=[estimate.backs[0]])
    new = np.zeros(1, np.int32)  # the numbers of the shorter n-grams among those kept
    for n, (order, stays) in enumerate(zip(grams, keep, strict=True)):
        context, suffix = (new[each[stays]] for each in (order.context, order.suffix))
        taken.append(Grams(context, order.word[stays], suffix, order.count[stays], order.begins[stays]))
        kept.probs.append(estimate.probs[n][stays])
        if n + 1 < len(grams):
            kept.backs.append(estimate.backs[n + 1][stays])
        new = (np.cumsum(stays) - 1).astype(np.int32)
    return taken, kept


def without_the_needless(grams: list[Grams], estimate: Estimate, threshold: float) -> tuple[list[Grams], Estimate]:
    """Leaves out n-grams, the longest first, without which perplexity rises by less than `threshold` (Stolcke 1998)."""
    from foresay.kernels.ngram import smooth as kernel  # numba takes a second to import

    contexts = _context_probabilities(grams, estimate)
    keep = [np.ones(len(order), bool) for order in grams]
    for n in range(len(grams) - 1, 0, -1):
        order, parents = grams[n], len(grams[n - 1])
        needed = np.zeros(len(order), bool)
        if n + 1 < len(grams):  # what something kept begins with, or ends with
            needed[grams[n + 1].context[keep[n + 1]]] = True
            needed[grams[n + 1].suffix[keep[n + 1]]] = True
        kernel.find_needless(
            order.children(parents),
            order.suffix,
            estimate.probs[n],
            estimate.probs[n - 1],
            contexts[n - 1],
            needed,
            threshold,
            keep[n],
            estimate.backs[n],
        )
    return take(grams, estimate, keep)


def _context_probabilities(grams: list[Grams], estimate: Estimate) -> list[np.ndarray]:
    """P of each context, word by word; <start> is certain."""
    found = [np.where(grams[0].begins, 1.0, estimate.probs[0])]
    for n in range(1, len(grams) - 1):
        found.append(found[-1][grams[n].context] * estimate.probs[n])
    return found
