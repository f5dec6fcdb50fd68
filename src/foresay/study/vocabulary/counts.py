"""How often each symbol stands in a text, and the two laws read off it: coverage and Zipf's line.

    coverage(k) = (f_1 + ... + f_k) / N        f_r the count of the symbol of rank r, N all tokens, unknown ones too
    log10 f_r  ~  log10 f(1) + s log10 r       Zipf's line: s about -1 for words

The line is fitted by least squares with weight 1/r, so that each stretch of log r counts alike: unweighted, nine tenths
of the points lie in the last decade. Ranks from `HEAD` on (the most frequent bend away from the line, Mandelbrot 1953;
all, when there are few) to the last that is seen `FEWEST` times, below which the counts are stairs.

counts (V,): ids 0-4 are marks, not text; f (R,): falling counts of the symbols that are seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from foresay.data.shards import Shards
from foresay.errors import UserError
from foresay.text.tokens import SPECIALS, STOP

SLICE = 2**22  # tokens counted at a time: 32 MB
HEAD, MANY = 10, 100  # the line begins at rank HEAD when at least MANY ranks could be fitted, else at rank 1
FEWEST = 10
SHORTEST = 3  # ranks a line is fitted to at least


@dataclass(frozen=True)
class Zipf:
    """Zipf's line f(r) = top * r^slope, and the ranks it was fitted to."""

    slope: float
    top: float
    first: int
    last: int

    def at(self, rank: float) -> float:
        return self.top * rank**self.slope


def count(shards: Shards, on_progress: Callable[[float], None] | None = None, size: int = SLICE) -> np.ndarray:
    """How often each id stands in the shards, (V,) of int64; memory does not grow with the text."""
    counts = np.zeros(shards.vocabulary, dtype=np.int64)
    for start in range(0, len(shards), size):
        found = np.bincount(shards.slice(start, start + size), minlength=len(counts))
        if len(found) > len(counts):
            raise UserError(
                f"{shards.folder} is damaged: id {len(found) - 1} in a vocabulary of {len(counts)}; "
                f"delete {shards.folder.parent} and prepare again"
            )
        counts += found
        if on_progress:
            on_progress(min(start + size, len(shards)) / len(shards))
    return counts


def text_tokens(counts: np.ndarray) -> int:
    """N: the tokens of the text, unknown ones too; <stop> ends a document and is none of them."""
    return int(counts.sum() - counts[STOP])


def by_rank(counts: np.ndarray) -> np.ndarray:
    """The ids of the symbols that are seen, most frequent first, ties by id; no marks."""
    order = np.argsort(-counts[len(SPECIALS) :], kind="stable") + len(SPECIALS)
    return order[: int((counts[len(SPECIALS) :] > 0).sum())]


def covering(f: np.ndarray, tokens: int, percent: int) -> int | None:
    """How many of the most frequent symbols make up so much of the text; None: all of them do not."""
    reached = 100 * np.cumsum(f) >= percent * tokens  # in integers: exact at the boundary
    return int(reached.argmax()) + 1 if reached.any() else None


def zipf(f: np.ndarray) -> Zipf | None:
    """Zipf's line through falling counts; None when too few symbols are seen often enough."""
    last = int((f >= FEWEST).sum())
    first = HEAD if last >= MANY else 1
    if last - first + 1 < SHORTEST:
        return None
    rank = np.arange(first, last + 1)
    x, y, weight = np.log10(rank), np.log10(f[first - 1 : last]), 1 / rank
    x_mean, y_mean = np.average(x, weights=weight), np.average(y, weights=weight)
    slope = (weight * (x - x_mean) * (y - y_mean)).sum() / (weight * (x - x_mean) ** 2).sum()
    return Zipf(float(slope), float(10 ** (y_mean - slope * x_mean)), first, last)
