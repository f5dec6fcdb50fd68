"""What a chain walks on: log pi(X) = weight log P(X) + log P(observed | X), and where it may go from X.

All that is asked is remembered, so that a chain may come back for nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from foresay.decode.correct.channel import Channel, UnitNoise
from foresay.decode.correct.scorer import Scorer

Units = tuple[str, ...]
MOST = 60  # candidates of one place
KEPT = 400  # sequences whose neighbours are remembered


class Posterior:
    """pi over sequences of units, given what was observed."""

    def __init__(
        self, scorer: Scorer, noise: UnitNoise, observed: Sequence[str], *, most: int = MOST, guesses: int = 0
    ):
        self.scorer, self.noise, self.observed = scorer, noise, tuple(observed)
        self.channel, self.weight = Channel(noise, observed), noise.weight
        self.most, self.guesses = most, guesses
        self.longest = len(self.observed) + (3 if noise.rates.edits else 0)
        self._found: dict[Units, float] = {}
        self._around: dict[Units, tuple[list[Units], np.ndarray]] = {}

    def log(self, x: Units) -> float:
        return self.near(x, x)

    def near(self, x: Units, y: Units) -> float:
        """log pi of one sequence near x."""
        if y not in self._found:
            self._look(x, [y])
        return self._found[y]

    def logs(self, x: Units, variants: Sequence[Units]) -> np.ndarray:
        """log pi of sequences near x; -inf for an empty or too long one."""
        new = [one for one in dict.fromkeys(variants) if one not in self._found]
        if new:
            self._look(x, new)
        return np.array([self._found[one] for one in variants])

    def _look(self, x: Units, new: Sequence[Units]) -> None:
        real = [one for one in new if 0 < len(one) <= self.longest]
        self._found |= dict.fromkeys(new, -math.inf)
        noise = self.channel.many(x, real)
        possible = [(one, log) for one, log in zip(real, noise, strict=True) if log > -math.inf]
        log_probs = self.scorer.log_probs([one for one, _ in possible])
        for (one, log), log_prob in zip(possible, log_probs, strict=True):
            self._found[one] = log + self.weight * float(log_prob)

    def visited(self) -> dict[Units, float]:
        """Everything that was looked at."""
        return self._found

    def choices(self, x: Units, i: int) -> list[str]:
        """What may stand at place i of x: it does not depend on what stands there, so that every way leads back."""
        drift = abs(len(x) - len(self.observed))
        near = range(max(i - drift, 0), min(i + drift, len(self.observed) - 1) + 1)
        found = dict.fromkeys(unit for j in near for unit in list(self.noise.candidates(self.observed[j]))[: self.most])
        return list(found | dict.fromkeys(self.likely(x[:i], x[i + 1 :])))

    def likely(self, before: Units, after: Units) -> list[str]:
        """The units that the language model itself would put between."""
        if not self.guesses or not self.scorer.direct:
            return []
        best = np.argsort(-self.scorer.expected(before, after), kind="stable")[: self.guesses]
        return [self.scorer.units[row] for row in best]

    def around(self, x: Units) -> tuple[list[Units], np.ndarray]:
        """Every sequence one change away from x, each once, and log pi of each."""
        if x not in self._around:
            if len(self._around) >= KEPT:
                self._around.clear()
            found = self.neighbours(x)
            self._around[x] = found, self.logs(x, found)
        return self._around[x]

    def neighbours(self, x: Units) -> list[Units]:
        found: dict[Units, None] = {}
        for i in range(len(x)):
            found |= dict.fromkeys((*x[:i], unit, *x[i + 1 :]) for unit in self.choices(x, i))
        rates = self.noise.rates
        if rates.swap:
            found |= dict.fromkeys((*x[:i], x[i + 1], x[i], *x[i + 2 :]) for i in range(len(x) - 1))
        if rates.insert and len(x) > 1:
            found |= dict.fromkeys((*x[:i], *x[i + 1 :]) for i in range(len(x)))
        if rates.delete and len(x) < self.longest:
            found |= dict.fromkeys((*x[:i], unit, *x[i:]) for i in range(len(x) + 1) for unit in self.gaps(x, i))
        found.pop(x, None)
        return list(found)

    def gaps(self, x: Units, i: int) -> Iterable[str]:
        """What may be put in before place i: what is near it in the text as observed, and what the model expects."""
        near = self.observed[max(i - 2, 0) : i + 3]
        return dict.fromkeys([*(unit for unit in near if self.scorer.knows(unit)), *self.likely(x[:i], x[i:])])
