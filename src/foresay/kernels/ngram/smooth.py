"""From counts to probabilities, context by context: interpolating, Katz, pruning. counts/smoothing.py says what for."""

from __future__ import annotations

import numpy as np

from foresay.kernels.ngram.loop import lean_loop


@lean_loop
def interpolate(
    first: np.ndarray,
    count: np.ndarray,
    suffix: np.ndarray,
    lower: np.ndarray,
    discount: np.ndarray,
    kinds: bool,
    keep: np.ndarray,
    probs: np.ndarray,
    backs: np.ndarray,
) -> None:
    """Fills `probs` of an order's n-grams and `backs` of their contexts; with `kinds` each kind of word counts as one
    more (Witten and Bell), else `discount` is taken from counts of 1, 2, 3 and more. What is not kept loses all."""
    for context in range(len(first) - 1):
        total, lost = 0.0, 0.0
        for at in range(first[context], first[context + 1]):
            total += count[at]
            lost += min(discount[min(count[at], 3)], count[at]) if keep[at] else count[at]
        if kinds:
            lost += first[context + 1] - first[context]
            total += first[context + 1] - first[context]
        if total == 0.0:
            backs[context] = 1.0
            continue
        backs[context] = lost / total
        for at in range(first[context], first[context + 1]):
            taken = 0.0 if kinds else min(discount[min(count[at], 3)], count[at])
            probs[at] = (count[at] - taken) / total + backs[context] * lower[suffix[at]]


@lean_loop
def katz(
    first: np.ndarray,
    count: np.ndarray,
    suffix: np.ndarray,
    lower: np.ndarray,
    shares: np.ndarray,
    most: int,
    keep: np.ndarray,
    probs: np.ndarray,
    backs: np.ndarray,
) -> None:
    for context in range(len(first) - 1):
        total, held = 0.0, 0.0
        for at in range(first[context], first[context + 1]):
            total += count[at]
            held += count[at] * shares[min(count[at], most + 1)] if keep[at] else 0.0
        if total == 0.0:
            continue
        if total - held < 1e-9:  # nothing was taken: one count more stands for what was never seen
            total += 1.0
        seen, below = 0.0, 0.0
        for at in range(first[context], first[context + 1]):
            probs[at] = count[at] * shares[min(count[at], most + 1)] / total
            if keep[at]:
                seen += probs[at]
                below += lower[suffix[at]]
        if below < 1.0 - 1e-9:
            backs[context] = (1.0 - seen) / (1.0 - below)
        else:  # every word there is has been seen: nobody is left to give to
            for at in range(first[context], first[context + 1]):
                probs[at] /= seen


@lean_loop
def find_needless(
    first: np.ndarray,
    suffix: np.ndarray,
    probs: np.ndarray,
    lower: np.ndarray,
    contexts: np.ndarray,
    needed: np.ndarray,
    threshold: float,
    keep: np.ndarray,
    backs: np.ndarray,
) -> None:
    """Marks what an order can do without, and works out anew what its contexts multiply their missing words with."""
    for context in range(len(first) - 1):
        rest, below = 1.0, 1.0
        for at in range(first[context], first[context + 1]):
            rest -= probs[at]
            below -= lower[suffix[at]]
        if first[context] == first[context + 1] or below <= 1e-12 or rest <= 0.0:
            continue
        back = np.log(rest / below)
        gone, gone_below = 0.0, 0.0
        for at in range(first[context], first[context + 1]):
            p, q = probs[at], lower[suffix[at]]
            if needed[at] or q <= 0.0:
                continue
            without = np.log((rest + p) / (below + q))
            change = -contexts[context] * (p * (np.log(q) + without - np.log(p)) + (without - back) * rest)
            if np.exp(change) - 1.0 < threshold:
                keep[at] = False
                gone += p
                gone_below += q
        if gone > 0.0:
            backs[context] = (rest + gone) / (below + gone_below)
