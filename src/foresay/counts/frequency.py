"""How often each symbol stands in a text."""

from __future__ import annotations

import numpy as np

from foresay.counts.count import Tokens

BLOCK = 1 << 22  # tokens counted at a time


def count_tokens(tokens: Tokens, vocabulary: int) -> np.ndarray:
    """(V,) int64."""
    counts = np.zeros(vocabulary, np.int64)
    for start in range(0, len(tokens), BLOCK):
        counts += np.bincount(tokens.slice(start, start + BLOCK), minlength=vocabulary)
    return counts
