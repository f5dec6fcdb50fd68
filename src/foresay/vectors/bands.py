"""Bands of word frequency: a question is as rare as its rarest word."""

from __future__ import annotations

import numpy as np

EDGES = (1_000, 10_000, 30_000)
NAMES = ("the first 1,000 words", "to 10,000", "to 30,000", "rarer")


def bands(rows: np.ndarray) -> np.ndarray:
    """The band of each question, from the rows (Q, N) of its words, which stand by falling frequency."""
    return np.searchsorted(EDGES, rows.max(1), side="right")
