"""Phrases: pairs of words that stand together more often than by chance become one word, new york -> new_york.

Mikolov et al. 2013, as their tool word2phrase computes it, with N words in the text:

    score(a, b) = (count(a b) - min_count) / (count(a) count(b)) * N        joined when score > threshold

(gensim's N is the number of different words and pairs: the same order, another threshold.) A further pass joins
what is joined already, new_york times -> new_york_times. A text is read from left to right, and never across a newline.
"""

from __future__ import annotations

import numpy as np

from foresay.parts import Count, Rate, Size, part


@part("phrases", "count")
class Phrases:
    """Pairs with a count score above the threshold; each pass can make phrases longer by as much again."""

    def __init__(self, threshold: Rate = 100.0, min_count: Count = 5, passes: Size = 1):
        self.threshold, self.min_count, self.passes = threshold, min_count, passes

    def score(self, together: np.ndarray, left: np.ndarray, right: np.ndarray, total: int) -> np.ndarray:
        """The scores of pairs, from how often they and each of their words were seen in `total` words."""
        return (together - self.min_count) / (left.astype(np.float64) * right) * total
