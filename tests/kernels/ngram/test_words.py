"""Words in bytes, against Python's `split`."""

from __future__ import annotations

import sys

from hypothesis import given
from hypothesis import strategies as st

from foresay.counts.words import WordModel
from foresay.text.tokens import STOP, UNK

BLANKS = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]
NEAR = [chr(code) for blank in BLANKS for code in (ord(blank) - 1, ord(blank) + 1) if code >= 0]
WORDS = [
    "a",
    "ab",
    "a\0",
    "a\0\0",
    "abcdefg",
    "abcdefgh",
    "abcdefghi",
    "abcdefgh\0",
    "abcdefghijklmnopqrst",
    "中文中文中文",
    "é",
]


def model() -> WordModel:
    return WordModel.train([" ".join(WORDS)], 1)


def ids(lines: list[str]) -> list[int]:
    """By a dictionary."""
    known = {word: number for number, word in enumerate(model().words)}
    return [number for line in lines for number in [*(known.get(word, UNK) for word in line.split()), STOP]]


def test_every_blank_there_is() -> None:
    lines = [f"a{letter}ab{letter}" for letter in [*BLANKS, *NEAR, "\ud800"]]
    assert model().ids(lines).tolist() == ids(lines)


def test_long_words_are_compared_to_their_ends() -> None:
    lines = [" ".join([*WORDS, *(word + "x" for word in WORDS), *(word[:-1] for word in WORDS)])]
    assert model().ids(lines).tolist() == ids(lines)


@given(st.lists(st.lists(st.sampled_from([*WORDS, "b", "", " ", "\n", "\u2003", "abcdefgi"])).map("".join), max_size=5))
def test_any_lines(lines: list[str]) -> None:
    assert model().ids(lines).tolist() == ids(lines)
