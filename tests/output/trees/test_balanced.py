"""The balanced tree: depths by hand, and to one turn alike for every size."""

from __future__ import annotations

import math

import numpy as np
import pytest

from foresay.output.trees.balanced import Balanced
from tests.output.trees.made import codes, paths


def test_five_words_by_hand():
    """0 1 | 2 3 4, then 0 | 1 and 2 | 3 4, then 3 | 4; nodes level by level."""
    tree = Balanced().build(np.ones(5))
    assert codes(tree) == ["00", "01", "10", "110", "111"]
    assert paths(tree) == [[0, 1], [0, 1], [0, 2], [0, 2, 3], [0, 2, 3]]


@pytest.mark.parametrize("words", [1, 2, 3, 4, 7, 8, 9, 100, 1000, 1025])
def test_every_path_as_long_as_the_others(words: int):
    depths = Balanced().build(np.zeros(words)).depths
    longest = math.ceil(math.log2(words))
    assert depths.max() == longest and depths.min() >= longest - 1
    assert (0.5**depths).sum() == 1
