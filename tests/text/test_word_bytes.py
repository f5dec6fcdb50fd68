"""Words as numbers, written out by hand."""

from __future__ import annotations

from foresay.text.tokens import SPECIALS
from foresay.text.word_bytes import ALPHABET, numbered, numbered_symbols


def test_words_by_hand():
    """a is byte 97, ü the bytes 195 and 188; what is longer than four bytes is cut, its end stays marked."""
    rows = numbered(["a", "ü", "", "aaaaaaa"], 4).tolist()
    assert rows == [
        [1, 105, 2, 0, 0, 0],
        [1, 203, 196, 2, 0, 0],
        [1, 2, 0, 0, 0, 0],
        [1, 105, 105, 105, 105, 2],
    ]
    assert numbered(["\U0010ffff", "\udcff"], 9).max() < ALPHABET


def test_marks_are_letters_of_their_own():
    rows = numbered_symbols([*SPECIALS, "<pad>"], 5).tolist()
    assert rows[:5] == [[1, 3 + mark, 2, 0, 0, 0, 0] for mark in range(5)]
    assert rows[5] == [1, *(8 + byte for byte in b"<pad>"), 2]
