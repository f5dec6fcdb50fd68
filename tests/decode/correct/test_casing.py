"""The case of corrections."""

from __future__ import annotations

import pytest

from foresay.decode.correct.casing import cased


@pytest.mark.parametrize(
    "text, begin, end, after, becomes",
    [
        ("teh", 0, 3, "the", "the"),
        ("Teh", 0, 3, "the", "The"),
        ("TEH", 0, 3, "the", "THE"),
        ("A", 0, 1, "an", "An"),
        ("Thecat", 0, 6, "the cat", "The cat"),
        ("TH CAT", 2, 2, "e", "E"),
        ("TE", 1, 1, "h", "H"),
        ("T cat", 1, 1, "h", "h"),
        ("cat", 3, 3, "s", "s"),
        ("TXE", 1, 2, "h", "H"),
        ("ab", 0, 1, "", ""),
        ("", 0, 0, "a", "a"),
    ],
)
def test_cases(text, begin, end, after, becomes):
    assert cased(after, text, begin, end) == becomes
