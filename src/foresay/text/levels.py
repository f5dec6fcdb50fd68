"""Levels: the numbers 0 .. N-1 as symbols, id = 5 + level; what pixels and samples of sound become.

Spelt out they are numbers between blanks, "0 3 15": so what takes a text takes a picture or a sound too. There is
nothing to learn; what is no level is <unk>.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from annotated_types import Ge, Le

from foresay.errors import UserError
from foresay.parts import part
from foresay.text.blanks import Blanks
from foresay.text.normalise import Normalise
from foresay.text.tokens import SPECIALS
from foresay.text.word_tokens import WordTokens

FIRST = len(SPECIALS)  # the id of level 0
Number = Annotated[int, Ge(2), Le(2**16 - FIRST)]


@part("tokens", "levels")
class Levels(Blanks):
    """One token per level of a pixel or of a sample of sound; nothing to learn."""

    sample = 0

    def __init__(self, number: Number = 256, normalise: Normalise | str | None = None):
        WordTokens.__init__(self, FIRST + number, 1, normalise, None, None, None, None)
        self.number = number
        self.take([str(level) for level in range(number)])

    def _learn(self, texts: Iterable[str]) -> None:
        """Does nothing: the vocabulary is fixed."""

    def load(self, folder: Path) -> None:
        super().load(folder)
        if len(self) != FIRST + self.number:
            raise UserError(
                f"{Path(folder) / 'tokenizer.json'} has {len(self) - FIRST} levels, and the recipe {self.number}; set "
                f"tokens.number to {len(self) - FIRST}"
            )
