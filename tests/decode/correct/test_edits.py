"""Words one edit away, against brute force."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from foresay.decode.correct.edits import Edits, one_apart, shortened


def distance(a: str, b: str) -> int:
    """Damerau's, with neighbours exchanged once."""
    d = {(i, 0): i for i in range(len(a) + 1)} | {(0, j): j for j in range(len(b) + 1)}
    for i, j in itertools.product(range(1, len(a) + 1), range(1, len(b) + 1)):
        d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
        if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
            d[i, j] = min(d[i, j], d[i - 2, j - 2] + 1)
    return d[len(a), len(b)]


@given(st.text("abc", max_size=5), st.text("abc", max_size=5))
def test_one_edit(a, b):
    assert one_apart(a, b) == (distance(a, b) == 1)


def test_words_one_edit_away():
    words = ["".join(one) for length in range(1, 5) for one in itertools.product("ab", repeat=length)]
    edits = Edits()
    edits.build([*words, "12"])
    for word in ["abab", "a", "aabbb", "c"]:
        assert set(edits.of(word)) == {other for other in words if distance(word, other) == 1}
    assert shortened("aab") == ["aab", "ab", "aa"]
