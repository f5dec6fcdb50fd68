"""What a text is written in, from a sample: enough to choose a tokeniser when the user names none."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class Script:
    """Shares of the characters that are not white space; `blanks` is the share of blanks among all characters."""

    characters: int
    han: float  # Chinese characters
    kana: float
    letters: float  # of any script, Chinese and kana too
    digits: float
    blanks: float
    line: float  # mean length of a line that is not empty, in characters

    @property
    def spaced(self) -> bool:
        """Whether blanks divide the text into words."""
        return self.han + self.kana < 0.3 and self.blanks > 0.05


def detect(sample: str) -> Script:
    """The facts about a sample of text."""
    counts = Counter(sample)
    seen = {c: n for c, n in counts.items() if not c.isspace()}
    total = max(sum(seen.values()), 1)

    def share(fits) -> float:
        return sum(n for c, n in seen.items() if fits(c)) / total

    lines = [line for line in sample.split("\n") if line.strip()]
    return Script(
        characters=len(sample),
        han=share(lambda c: unicodedata.name(c, "").startswith("CJK ")),
        kana=share(lambda c: unicodedata.name(c, "").startswith(("HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA"))),
        letters=share(str.isalpha),
        digits=share(str.isdigit),
        blanks=(counts[" "] + counts["\t"]) / max(len(sample), 1),
        line=sum(map(len, lines)) / max(len(lines), 1),
    )
