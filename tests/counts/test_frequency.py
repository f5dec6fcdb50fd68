"""How often each symbol stands in a text, counted in blocks."""

from __future__ import annotations

import numpy as np

from foresay.counts import frequency
from tests.decode.models import Words


def test_blocks_add_up(monkeypatch):
    monkeypatch.setattr(frequency, "BLOCK", 4)
    found = frequency.count_tokens(Words([1, 3, 3, 0, 3, 1, 5]), 7)
    assert found.tolist() == [1, 2, 0, 3, 0, 1, 0] and found.dtype == np.int64
    assert frequency.count_tokens(Words([]), 3).tolist() == [0, 0, 0]
