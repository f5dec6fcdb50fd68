"""The smoothings by name: what an n-gram that was never seen gets, and from whom it is taken."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Annotated

import numpy as np
from annotated_types import Gt, Le

from foresay.counts.count import Grams
from foresay.counts.estimate import Estimate, counts_of_counts, interpolated, with_rest, words_before
from foresay.parts import Part, Rate, Share, part
from foresay.text.tokens import START

NOTHING = np.zeros(4)
USUAL = (0.5, 1.0, 1.5)  # discounts where a text is too small to say


class Smoothing(Part):
    """`estimate` makes probabilities of counts."""

    part_kind = "smoothing"
    backs_off = True  # words that a context does not know get what a shorter one says, and all together get one

    def estimate(self, grams: list[Grams], keep: list[np.ndarray]) -> Estimate:
        """Probabilities of every n-gram; those that will not be kept leave their share to what was never seen."""
        raise AssertionError(f"{type(self).__name__} has no estimate")


@part("smoothing", "none")
class MaximumLikelihood(Smoothing):
    """c(u w) / c(u): what was not seen after a context is impossible there."""

    backs_off = False

    def estimate(self, grams: list[Grams], keep: list[np.ndarray]) -> Estimate:
        return _added(grams, keep, 0.0)


@part("smoothing", "add")
class Add(Smoothing):
    """(c(u w) + k) / (c(u) + k V); a context that was never seen gives way to the next shorter one."""

    backs_off = False

    def __init__(self, k: Rate = 0.1):
        self.k = k

    def estimate(self, grams: list[Grams], keep: list[np.ndarray]) -> Estimate:
        return _added(grams, keep, self.k)


def _added(grams: list[Grams], keep: list[np.ndarray], k: float) -> Estimate:
    """What is not kept counts as never seen, in its context's sum too."""
    vocabulary = len(grams[0])
    found = Estimate(flat=1 / vocabulary)
    for n, order in enumerate(grams):
        contexts = len(grams[n - 1]) if n else 1
        count = np.where(keep[n], order.count, 0).astype(np.float64)
        if n == 0:
            count[START] = 0.0
        total = np.bincount(order.context, count, minlength=contexts) + k * vocabulary
        with np.errstate(invalid="ignore"):
            found.probs.append(np.nan_to_num((count + k) / total[order.context], nan=1 / vocabulary))
        found.backs.append(np.divide(k * vocabulary, total, out=np.ones(contexts), where=total > 0))
    return found


@part("smoothing", "witten-bell")
class WittenBell(Smoothing):
    """Each kind of word that follows a context counts once for all that never did; interpolated."""

    def estimate(self, grams: list[Grams], keep: list[np.ndarray]) -> Estimate:
        return interpolated(grams, [order.count for order in grams], [NOTHING] * len(grams), keep, True)


@part("smoothing", "absolute")
class Absolute(Smoothing):
    """The same amount is taken from every count, n1 / (n1 + 2 n2) of each order; interpolated."""

    def __init__(self, discount: Share | None = None):
        self.discount = discount

    def estimate(self, grams: list[Grams], keep: list[np.ndarray]) -> Estimate:
        counts = [order.count for order in grams]
        return interpolated(grams, counts, [_one_discount(count, self.discount) for count in counts], keep, False)


@part("smoothing", "kneser-ney")
class KneserNey(Smoothing):
    """One discount for each order; lower orders count how many different words stand before; interpolated."""

    def __init__(self, discount: Share | None = None):
        self.discount = discount

    def estimate(self, grams: list[Grams], keep: list[np.ndarray]) -> Estimate:
        counts = words_before(grams)
        return interpolated(grams, counts, [_one_discount(count, self.discount) for count in counts], keep, False)


@part("smoothing", "modified-kneser-ney")
class ModifiedKneserNey(Smoothing):
    """Three discounts for each order, of counts 1, 2 and more (Chen and Goodman 1998); interpolated."""

    def estimate(self, grams: list[Grams], keep: list[np.ndarray]) -> Estimate:
        counts = words_before(grams)
        found, small = [], list[int]()  # orders too small to say
        for n, count in enumerate(counts, 1):
            held = _three_discounts(count if n > 1 else _without_start(count))
            if held is None:
                small.append(n)
            found.append(np.array([0.0, *(held or USUAL)]))
        estimate = interpolated(grams, counts, found, keep, False)
        usual = ", ".join(map(str, USUAL))
        what = f"to say what to take from counts of 1, 2 and more: {usual} are taken"
        estimate.notes += [f"too few {orders} {what}" for orders in _stretches(small)]
        return estimate


@part("smoothing", "katz")
class Katz(Smoothing):
    """Good and Turing's counts for what was seen up to `most` times; what is missing backs off to the lower order."""

    def __init__(self, most: Annotated[int, Gt(0), Le(1000)] = 5):
        self.most = most

    def estimate(self, grams: list[Grams], keep: list[np.ndarray]) -> Estimate:
        from foresay.kernels.ngram import smooth as kernel  # numba takes a second to import

        shares = [_good_turing(order.count, self.most) for order in grams]
        found = Estimate()
        seen = _without_start(grams[0].count)
        held = seen * shares[0][np.minimum(seen, self.most + 1)] / max(seen.sum(), 1)
        rest = max(1.0 - held.sum(), 0.0)  # shares that sum to 1 may do so to a digit more
        found.probs.append(with_rest(held, seen > 0, rest))
        found.backs.append(np.ones(1))
        for n in range(1, len(grams)):
            contexts = len(grams[n - 1])
            probs, backs = np.empty(len(grams[n])), np.ones(contexts)
            first = grams[n].children(contexts)
            count, suffix, lower = grams[n].count, grams[n].suffix, found.probs[-1]
            kernel.katz(first, count, suffix, lower, shares[n], self.most, keep[n], probs, backs)
            found.probs.append(probs)
            found.backs.append(backs)
        return found


@part("smoothing", "stupid")
class Stupid(Smoothing):
    """c(u w) / c(u), else `factor` times the score of the shorter context: fast, no probabilities (Brants 2007)."""

    backs_off = False

    def __init__(self, factor: Share = 0.4):
        self.factor = factor

    def estimate(self, grams: list[Grams], keep: list[np.ndarray]) -> Estimate:
        found = _added(grams, keep, 0.0)
        total = max(_without_start(grams[0].count).sum(), 1)
        found.probs[0][found.probs[0] == 0] = 1 / total
        found.backs = [np.full(len(back), self.factor) for back in found.backs]
        found.flat = None
        return found


def _stretches(orders: list[int]) -> Iterator[str]:
    """Rising numbers as '1-grams' and '3- to 9-grams'."""
    for _, found in groupby(enumerate(orders), lambda pair: pair[1] - pair[0]):
        run = [order for _, order in found]
        yield f"{run[0]}-grams" if len(run) == 1 else f"{run[0]}- to {run[-1]}-grams"


def _without_start(count: np.ndarray) -> np.ndarray:
    count = count.copy()
    count[START] = 0
    return count


def _one_discount(count: np.ndarray, given: float | None) -> np.ndarray:
    once, twice = counts_of_counts(count, 2)
    discount = given if given is not None else once / (once + 2 * twice) if once else USUAL[0]
    return np.array([0.0, discount, discount, discount])


def _three_discounts(count: np.ndarray) -> tuple[float, ...] | None:
    """k - (k + 1) Y n_{k+1} / n_k with Y = n1 / (n1 + 2 n2); None where the text is too small for them."""
    times = counts_of_counts(count, 4).astype(np.float64)
    if not times[:3].all():
        return None
    y = times[0] / (times[0] + 2 * times[1])
    found = tuple(k - (k + 1) * y * times[k] / times[k - 1] for k in (1, 2, 3))
    return found if all(0 <= value <= k for k, value in enumerate(found, 1)) else None


def _good_turing(count: np.ndarray, most: int) -> np.ndarray:
    """What is left of a count of 0, 1, ..., `most` and more, as a share; 1 where the text is too small to say."""
    times = counts_of_counts(count, most + 1).astype(np.float64)
    left = np.ones(most + 2)
    if not times.all():
        return left
    common = (most + 1) * times[most] / times[0]
    for r in range(1, most + 1):
        share = ((r + 1) * times[r] / times[r - 1] / r - common) / (1 - common) if common < 1 else 1.0
        left[r] = share if 0 < share <= 1 else 1.0
    return left
