"""P(observed word | right word) by its letters: the channel of channel.py over the spelling.

What may have been meant by a word is itself and the words of the vocabulary one edit away.
"""

from __future__ import annotations

from collections.abc import Sequence

from foresay.decode.correct.channel import Channel
from foresay.decode.correct.edits import Edits
from foresay.decode.correct.noise import Noise, Rates


class WordNoise:
    """The noise of words, from that of letters."""

    def __init__(self, letters: Noise, words: Sequence[str]):
        self.letters = letters.using(caution=0.0)  # a word costs it once, however many letters differ
        self.units, self.rates = list(words), Rates()
        self.cautious = self.rates
        self.weight, self.caution = letters.weight, letters.caution
        self.near = Edits()
        self.near.build([word for word in words if word != "<unk>"])
        self._logs: dict[tuple[str, str], float] = {}
        self._candidates: dict[str, dict[str, float]] = {}

    def using(self, *, weight: float | None = None, caution: float | None = None) -> WordNoise:
        new = WordNoise.__new__(WordNoise)
        new.__dict__ |= self.__dict__ | {"_logs": {}, "_candidates": {}}
        new.letters = self.letters.using(weight=weight)
        new.weight, new.caution = new.letters.weight, self.caution if caution is None else caution
        return new

    def log_sub(self, right: str, observed: str) -> float:
        found = self._logs.get((right, observed))
        if found is None:
            found = Channel(self.letters, observed).log_prob(right) - self.caution * (right != observed)
            self._logs[right, observed] = found
        return found

    def candidates(self, observed: str) -> dict[str, float]:
        if observed not in self._candidates:
            near = self.near.of(observed) if any(map(str.isalpha, observed)) and observed != "<unk>" else ()
            logs = {right: self.log_sub(right, observed) for right in near}
            ordered = sorted(logs, key=lambda right: (-logs[right], right))
            self._candidates[observed] = {
                observed: self.log_sub(observed, observed), **{right: logs[right] for right in ordered}
            }  # fmt: skip
        return self._candidates[observed]
