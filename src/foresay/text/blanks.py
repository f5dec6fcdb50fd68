"""Words between blanks, for text that is tokenised already (PTB, WikiText): `do n't stop .` -> do n't stop .

A literal "<unk>" is <unk>; the other control marks are split after their first character ("<stop>" -> < stop>), so
that no text gives them. Decoding joins with blanks: line ends and runs of blanks are not kept.
"""

from __future__ import annotations

from tokenizers import normalizers

from foresay.parts import Size, part
from foresay.text.normalise import Normalise
from foresay.text.phrases import Phrases
from foresay.text.stem import Stem
from foresay.text.tokens import SPECIALS, UNK
from foresay.text.word_tokens import SPACE, WordTokens

_MARKS = [mark for i, mark in enumerate(SPECIALS) if i != UNK]


@part("tokens", "blanks")
class Blanks(WordTokens):
    """Whatever stands between blanks is a word; rare words become <unk>."""

    pattern = rf"[^{SPACE}]+"

    def __init__(
        self,
        size: Size = 10000,
        min_count: Size = 1,
        normalise: Normalise | str | None = None,
        stem: Stem | str | None = None,
        phrases: Phrases | str | None = None,
        also: str | None = None,
    ):
        super().__init__(size, min_count, normalise, None, stem, phrases, also)

    def split(self, chunk: str) -> list[str]:
        return [chunk] if chunk.isascii() and "<" not in chunk else super().split(chunk)

    def apart(self) -> list[normalizers.Normalizer]:
        return [normalizers.Replace(mark, f"{mark[0]} {mark[1:]}") for mark in _MARKS]
