"""The score of a phrase: by hand, and as gensim has it."""

import numpy as np
import pytest

from foresay.errors import UserError
from foresay.text.phrases import Phrases


def test_score_by_hand():
    """new 8 times, york 6, new york 5, in 100 words: (5 - 2) / (8 * 6) * 100 = 6.25."""
    phrases = Phrases(min_count=2)
    score = phrases.score(np.array([5, 2, 1]), np.array([8, 8, 8]), np.array([6, 6, 6]), 100)
    assert score.tolist() == pytest.approx([6.25, 0.0, -100 / 48])


def test_score_is_gensims_but_for_n():
    """gensim's original_scorer: (n_ab - min_count) / n_a / n_b * (number of different words and pairs)."""
    draw = np.random.default_rng(3)
    together, left, right = draw.integers(1, 50, (3, 20))
    gensim = [(ab - 5) / a / b * 1234 for ab, a, b in zip(together, left, right, strict=True)]
    assert Phrases().score(together, left, right, 1234) == pytest.approx(gensim)


def test_defaults_are_word2phrases():
    assert Phrases().settings == {"threshold": 100.0, "min_count": 5, "passes": 1}
    with pytest.raises(UserError, match=r"threshold=0; allowed: a number > 0"):
        Phrases(threshold=0)
