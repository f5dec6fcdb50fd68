"""Words and punctuation: `A 11-year-old boy, don't` -> A 11 - year - old boy , don't

One token is: a word (letters, with inner apostrophes, joiners and soft hyphens), a number (3.14 and 1,000 are one), one
Chinese character (or, with a segmenter, a Chinese word) or kana, or one mark of any other kind. Decoding joins with
blanks, except before , . ; : ! ? % ) ] }, after ( [ {, and between Chinese characters and kana.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from foresay.parts import Size, part
from foresay.text.normalise import Normalise
from foresay.text.phrases import Phrases
from foresay.text.segment import Jieba
from foresay.text.stem import Stem
from foresay.text.word_tokens import SPACE, WordTokens

_CJK = r"\p{Han}\p{Hiragana}\p{Katakana}ー"
# Inside a word they only shape it: zero-width (non-)joiners of Persian and Indic scripts, soft hyphens.
_SHAPING = "\u200c\u200d\u00ad"
_LETTERS = rf"[\p{{L}}\p{{M}}&&[^{_CJK}]]+"
# What the pattern gives on plain ASCII, for Python's faster engine.
_ASCII = re.compile(r"<unk>|[A-Za-z]+(?:'[A-Za-z]+)*|[0-9]+(?:[.,][0-9]+)*|\S")
# Chinese characters, kana and their marks, which stand without blanks.
_WIDE = (
    r"[\u2e80-\u2eff\u3001-\u301b\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff1f\uff66-\uff9f"
    r"\U00020000-\U0003ffff]"
)
_NO_BLANK = re.compile(rf" (?=[,.;:!?%)\]}}])|(?<=[(\[{{]) |(?<={_WIDE}) (?={_WIDE})")


@part("tokens", "words")
class Words(WordTokens):
    """Words, numbers and punctuation marks; rare words become <unk>."""

    pattern = rf"<unk>|[{_CJK}]|{_LETTERS}(?:(?:['’]|[{_SHAPING}]+){_LETTERS})*|\p{{N}}+(?:[.,]\p{{N}}+)*|[^{SPACE}]"

    def __init__(
        self,
        size: Size = 10000,
        min_count: Size = 1,
        normalise: Normalise | str | None = None,
        segment: Jieba | str | None = None,
        stem: Stem | str | None = None,
        phrases: Phrases | str | None = None,
        also: str | None = None,
    ):
        super().__init__(size, min_count, normalise, segment, stem, phrases, also)

    def split(self, chunk: str) -> list[str]:
        return _ASCII.findall(chunk) if chunk.isascii() else super().split(chunk)

    def join(self, words: Sequence[str]) -> str:
        return _NO_BLANK.sub("", " ".join(words))
