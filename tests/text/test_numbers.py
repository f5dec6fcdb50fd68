"""What stands for a tokeniser of numbers: the marks alone, saved and loaded."""

from __future__ import annotations

from pathlib import Path

from foresay.text.numbers import Numbers
from foresay.text.saved import open_tokens
from foresay.text.tokens import SPECIALS


def test_the_marks_and_nothing_to_learn(tmp_path: Path) -> None:
    tokens = Numbers()
    tokens.learn(iter(["1 2 3"]))
    assert list(tokens.pieces(range(len(tokens)))) == list(SPECIALS)
    tokens.save(tmp_path)
    again = open_tokens(tmp_path)
    assert isinstance(again, Numbers) and len(again) == len(SPECIALS)
