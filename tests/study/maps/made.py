"""Vectors that were made up for the tests of maps."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from foresay.study.cooccurrence import CountedVectors

needs_tsne = pytest.mark.skipif(
    not importlib.util.find_spec("openTSNE"), reason="openTSNE is not installed (extra maps)"
)
needs_umap = pytest.mark.skipif(not importlib.util.find_spec("umap"), reason="umap-learn is not installed (extra maps)")
needs_plotly = pytest.mark.skipif(not importlib.util.find_spec("plotly"), reason="plotly is not installed (extra maps)")


def made(number: int, size: int = 6, seed: int = 1) -> CountedVectors:
    """Words of several lengths around five centres, most frequent first."""
    chance = np.random.default_rng(seed)
    centres = 4 * chance.standard_normal((5, size))
    matrix = centres[np.arange(number) % 5] + chance.standard_normal((number, size))
    words = [f"w{'o' * (i % 7)}rd{i}" for i in range(number)]
    return CountedVectors(words, 10_000 // np.arange(1, number + 1), matrix)
