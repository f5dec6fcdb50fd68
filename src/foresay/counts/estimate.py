"""What the smoothings share: probabilities by interpolating each order with the one below it.

    P(w | u) = (c(u w) - D(c)) / T(u)  +  γ(u) P(w | u')            u' = u without its first word

T(u) is the sum of c(u ·), D what is taken from each count, γ(u) all that was taken, as a share. The lowest order is
interpolated with the uniform distribution over the words seen, the end of a text and one more: what was never seen.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np

from foresay.counts.count import Grams
from foresay.text.tokens import MASK, PAD, START


@dataclass
class Estimate:
    """Probabilities of every order's n-grams, and for every context what its missing words are multiplied with."""

    probs: list[np.ndarray] = field(default_factory=list)
    backs: list[np.ndarray] = field(default_factory=list)  # of contexts of 0, 1, ... words; the first is of no use
    flat: float | None = None  # what a context's missing words are multiplied with, where that is no lower order
    discounts: list[tuple[float, ...]] = field(default_factory=list)  # taken from counts of 1, 2, 3 and more
    notes: list[str] = field(default_factory=list)  # what a person should know


def words_before(grams: list[Grams]) -> list[np.ndarray]:
    """The counts that Kneser-Ney's lower orders use: how many different words stand before an n-gram.

    Nothing stands before <start>, so what begins with it keeps its count, as the highest order does.
    """
    adjusted = [
        np.where(lower.begins, lower.count, np.bincount(upper.suffix, minlength=len(lower)))
        for lower, upper in itertools.pairwise(grams)
    ]
    return [*adjusted, grams[-1].count]


def counts_of_counts(counts: np.ndarray, most: int) -> np.ndarray:
    """How many n-grams were counted 1, 2, ..., `most` times."""
    small = counts[(counts > 0) & (counts <= most)].astype(np.int64)
    return np.bincount(small, minlength=most + 1)[1:]


def single_words(count: np.ndarray, discount: np.ndarray, kinds: bool = False) -> np.ndarray:
    """P(w) of every word: discounted counts and the uniform distribution."""
    counts = count.astype(np.float64)
    counts[START] = 0.0
    taken = np.minimum(discount[np.minimum(counts, 3).astype(np.int64)], counts)
    total, lost = counts.sum(), taken.sum()
    if kinds:
        lost = float((counts > 0).sum())
        total += lost
    return with_rest((counts - taken) / max(total, 1), counts > 0, lost / total if total else 1.0)


def with_rest(probs: np.ndarray, seen: np.ndarray, rest: float) -> np.ndarray:
    """Probabilities with the rest divided among the words seen and one more, which stands for all others.

    Padding, <start> and <mask> are never predicted; only where every other word was seen does padding get that last
    share, so that the whole is one.
    """
    share = rest / (int(seen.sum()) + 1)
    never = ~seen
    never[[PAD, START, MASK]] = False
    if not never.any():
        never[PAD] = True
    return probs + np.where(seen, share, 0.0) + np.where(never, share / never.sum(), 0.0)


def interpolated(
    grams: list[Grams], counts: list[np.ndarray], discounts: list[np.ndarray], keep: list[np.ndarray], kinds: bool
) -> Estimate:
    """All orders, from the lowest to the highest; `keep` says which n-grams will stay."""
    from foresay.kernels.ngram import smooth as kernel  # numba takes a second to import

    found = Estimate(discounts=[tuple(map(float, discount[1:])) for discount in discounts])
    found.probs.append(single_words(counts[0], discounts[0], kinds))
    found.backs.append(np.ones(1))
    for n in range(1, len(grams)):
        contexts = len(grams[n - 1])
        probs, backs = np.empty(len(grams[n])), np.ones(contexts)
        first = grams[n].children(contexts)
        lower, suffix = found.probs[-1], grams[n].suffix
        kernel.interpolate(first, counts[n], suffix, lower, discounts[n], kinds, keep[n], probs, backs)
        found.probs.append(probs)
        found.backs.append(backs)
    return found
