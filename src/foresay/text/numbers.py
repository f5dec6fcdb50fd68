"""No symbols: what stands for the tokeniser where data are series of numbers, which nothing is made of."""

from __future__ import annotations

from collections.abc import Iterable

from foresay.parts import part
from foresay.text.blanks import Blanks
from foresay.text.tokens import SPECIALS
from foresay.text.word_tokens import WordTokens


@part("tokens", "numbers")
class Numbers(Blanks):
    """Of series of numbers: no vocabulary but the marks, and nothing to learn."""

    sample = 0

    def __init__(self) -> None:
        WordTokens.__init__(self, len(SPECIALS) + 1, 1, None, None, None, None, None)
        self.take([])

    def _learn(self, texts: Iterable[str]) -> None:
        """Does nothing."""
