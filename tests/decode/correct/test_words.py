"""P(observed word | right word) by letters."""

from __future__ import annotations

import pytest

from foresay.decode.correct.noise import Noise, Rates
from foresay.decode.correct.words import WordNoise


def test_words_by_their_letters():
    letters = Noise([], Rates(0.01, 0.01, 0.01, 0.01)).build("abcdefgh")
    made = WordNoise(letters, ["abc", "abd", "bad", "head"])
    assert set(made.candidates("ab")) == {"ab", "abc", "abd"} and next(iter(made.candidates("abc"))) == "abc"
    assert made.log_sub("abc", "abc") > -0.2 > -4 > made.log_sub("abc", "acb") > made.log_sub("abc", "cab")
    bold, shy = made.using(caution=0.0), made.using(caution=2.0)
    assert shy.log_sub("abc", "acb") == pytest.approx(bold.log_sub("abc", "acb") - 2)
    assert shy.log_sub("abc", "abc") == bold.log_sub("abc", "abc")
    again = WordNoise(letters.using(caution=2.0), made.units)
    assert again.log_sub("abc", "acb") == pytest.approx(shy.log_sub("abc", "acb"))
