"""P(observed word | right word) by its letters: the channel of channel.py over the spelling.

What may have been meant by a word is itself, the words of the vocabulary one edit away, and, of an unknown word, two
words between which the blank was left out (thecat: the cat). Words are otherwise neither put in, left out, joined nor
exchanged.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

from foresay.decode.correct.channel import Channel
from foresay.decode.correct.confusions import Confusions
from foresay.decode.correct.edits import Edits
from foresay.decode.correct.noise import Noise, Rates, checked_use

ALONE = ("a", "A", "i", "I")  # words of one letter that a blank may have stood beside
WIDE = "\u2e80"  # from here on are scripts without blanks


class WordNoise:
    """The noise of words, from that of letters."""

    def __init__(self, letters: Noise, words: Sequence[str]):
        self.letters = letters.using(caution=0.0)  # a word costs it once, however many letters differ
        self.units, self.rates = list(words), Rates()
        self.cautious = self.rates
        self.weight, self.caution = letters.weight, letters.caution
        self.known = frozenset(words)
        self.near = Edits()
        self.near.build([word for word in words if word != "<unk>"])
        self._logs: dict[tuple[str, str], float] = {}
        self._candidates: dict[str, dict[str, float]] = {}

    def using(self, *, weight: float | None = None, caution: float | None = None) -> WordNoise:
        new = copy.copy(self)
        new.weight, new.caution = checked_use(
            self.weight if weight is None else weight, self.caution if caution is None else caution
        )
        new.letters = self.letters.using(weight=weight)
        new._logs, new._candidates = {}, {}
        return new

    @property
    def confusions(self) -> list[Confusions]:
        return self.letters.confusions

    def log_sub(self, right: str, observed: str) -> float:
        found = self._logs.get((right, observed))
        if found is None:
            found = Channel(self.letters, observed).log_prob(right) - self.caution * (right != observed)
            self._logs[right, observed] = found
        return found

    def candidates(self, observed: str) -> dict[str, float]:
        if observed not in self._candidates:
            word = any(map(str.isalpha, observed)) and observed != "<unk>"
            near = [*self.near.of(observed), *self.divided(observed)] if word else ()
            logs = {right: self.log_sub(right, observed) for right in near}
            ordered = sorted(logs, key=lambda right: (-logs[right], right))
            self._candidates[observed] = {
                observed: self.log_sub(observed, observed), **{right: logs[right] for right in ordered}
            }  # fmt: skip
        return self._candidates[observed]

    def divided(self, observed: str) -> list[str]:
        """Two known words that an unknown one is made of, with the blank between them."""
        if observed in self.known or not self.letters.rates.delete or max(observed) >= WIDE:
            return []
        halves = [(observed[:i], observed[i:]) for i in range(1, len(observed))]
        return [f"{one} {other}" for one, other in halves if self._stands(one) and self._stands(other)]

    def _stands(self, word: str) -> bool:
        return word in self.known and word.isalpha() and (len(word) > 1 or word in ALONE)
