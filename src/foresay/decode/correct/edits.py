"""Words of the vocabulary one edit away: a letter left out, put in, replaced, or two neighbours exchanged.

Two words are one edit apart only if leaving at most one letter out of each can make them equal: every word stands in an
index under itself and under each of its spellings with a letter left out, and what shares a key is compared. A word
need not be known for its neighbours to be found.
"""

from __future__ import annotations

from collections.abc import Sequence

from foresay.decode.correct.confusions import Confusions, grouped
from foresay.parts import part


@part("confusions", "edits")
class Edits(Confusions):
    """Words of the vocabulary that differ by one edit."""

    def __init__(self):
        self.index: dict[str, list[str]] = {}

    def build(self, units: Sequence[str]) -> None:
        self.index = grouped((unit, shortened(unit)) for unit in units if any(map(str.isalpha, unit)))

    def of(self, unit: str) -> Sequence[str]:
        found = dict.fromkeys(other for key in shortened(unit) for other in self.index.get(key, ()))
        return [other for other in found if one_apart(unit, other)]


def shortened(word: str) -> list[str]:
    """The word, and the word without each of its letters."""
    return list(dict.fromkeys([word, *(word[:i] + word[i + 1 :] for i in range(len(word)))]))


def one_apart(a: str, b: str) -> bool:
    """Whether one edit, and no fewer, makes b of a."""
    if len(a) > len(b):
        a, b = b, a
    if a == b or len(b) - len(a) > 1:
        return False
    first = next((i for i, letter in enumerate(a) if letter != b[i]), len(a))
    if len(a) < len(b):
        return a[first:] == b[first + 1 :]
    swapped = a[:first] + a[first + 1 : first + 2] + a[first : first + 1] + a[first + 2 :]
    return a[first + 1 :] == b[first + 1 :] or swapped == b
