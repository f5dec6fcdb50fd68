"""Words between blanks, for text that is tokenised already (PTB, WikiText): `do n't stop .` -> do n't stop .

A literal "<unk>" is <unk>; the other control marks are split after their first character ("<stop>" -> < stop>), so
that no text gives them. Decoding joins with blanks: line ends and runs of blanks are not kept.
"""

from __future__ import annotations

from tokenizers import normalizers

from foresay.parts import Size, part
from foresay.text.tokens import SPECIALS, UNK
from foresay.text.word_tokens import SPACE, WordTokens

_MARKS = [mark for i, mark in enumerate(SPECIALS) if i != UNK]


@part("tokens", "blanks")
class Blanks(WordTokens):
    """Whatever stands between blanks is a word; rare words become <unk>."""

    pattern = rf"[^{SPACE}]+"

    def __init__(self, size: Size = 10000, min_count: Size = 1, lowercase: bool = False):
        super().__init__(size, min_count, lowercase)

    def split(self, chunk: str) -> list[str]:
        if chunk.isascii() and not self.lowercase and "<" not in chunk:
            return [chunk]
        return super().split(chunk)

    def normalisers(self) -> list[normalizers.Normalizer]:
        apart = [normalizers.Replace(mark, f"{mark[0]} {mark[1:]}") for mark in _MARKS]
        return [*super().normalisers(), *apart]
