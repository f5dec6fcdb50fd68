"""Proposals of the Metropolis chain: one change, with the probability of proposing it and of proposing it back.

    substitution   place i evenly;  y ~ mix near(y | x_i) + (1 - mix) P(y | around)
    insertion      gap evenly;      y ~ mix [observed units evenly] + (1 - mix) P(y | around)
    deletion       place evenly
    swap           a place and the next, evenly

near is the noise turned round: how likely each unit was to be seen as x_i. Around a place is what stands before it, for
a model that sees both sides also what stands after it; never what stands there. Forth and back differ, so the chain
divides by the one and multiplies with the other (Hastings).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from foresay.decode.correct.posterior import Posterior, Units

KINDS = ("substitution", "insertion", "deletion", "swap")


@dataclass(frozen=True)
class Proposal:
    """Where to go, and log q of going there and of coming back."""

    y: Units
    forth: float
    back: float


class Moves:
    """Draws proposals; `kinds` says which, evenly."""

    def __init__(self, posterior: Posterior, kinds: Sequence[str] | None = None, mix: float = 0.8):
        rates = posterior.noise.rates
        able = {"substitution": True, "insertion": rates.delete, "deletion": rates.insert, "swap": rates.swap}
        self.posterior, self.mix = posterior, mix
        self.makers: dict[str, Callable[[Units, random.Random], Proposal | None]] = {
            "substitution": self._substitution, "insertion": self._insertion, "deletion": self._deletion,
            "swap": self._swap,
        }  # fmt: skip
        self.kinds = list(kinds) if kinds is not None else [kind for kind in KINDS if able[kind]]
        self.scorer = posterior.scorer
        self.rows = {unit: row for row, unit in enumerate(self.scorer.units)}
        self.spread = [unit for unit in dict.fromkeys(posterior.observed) if unit in self.rows]

    def propose(self, x: Units, draw: random.Random) -> Proposal | None:
        """A change of x; None where there is no such change from here."""
        return self.makers[draw.choice(self.kinds)](x, draw)

    def _substitution(self, x: Units, draw: random.Random) -> Proposal:
        i = draw.randrange(len(x))
        around = x[:i], x[i + 1 :]
        y = self._drawn(self._near(x[i]), around, draw)
        forth, back = self._log(self._near(x[i]), around, y), self._log(self._near(y), around, x[i])
        return Proposal((*x[:i], y, *x[i + 1 :]), forth, back)

    def _insertion(self, x: Units, draw: random.Random) -> Proposal | None:
        if "deletion" not in self.kinds:
            return None
        i, even = draw.randrange(len(x) + 1), self._even()
        unit = self._drawn(even, (x[:i], x[i:]), draw)
        forth = self._log(even, (x[:i], x[i:]), unit) - math.log(len(x) + 1)
        return Proposal((*x[:i], unit, *x[i:]), forth, -math.log(len(x) + 1))

    def _deletion(self, x: Units, draw: random.Random) -> Proposal | None:
        if len(x) < 2 or "insertion" not in self.kinds:
            return None
        i = draw.randrange(len(x))
        back = self._log(self._even(), (x[:i], x[i + 1 :]), x[i]) - math.log(len(x))
        return Proposal((*x[:i], *x[i + 1 :]), -math.log(len(x)), back)

    def _swap(self, x: Units, draw: random.Random) -> Proposal | None:
        if len(x) < 2:
            return None
        i = draw.randrange(len(x) - 1)
        return Proposal((*x[:i], x[i + 1], x[i], *x[i + 2 :]), 0.0, 0.0)

    def _near(self, unit: str) -> dict[str, float]:
        """P(y) in proportion to P(unit | y), over what the unit is confused with."""
        logs = {y: log for y, log in self.posterior.noise.candidates(unit).items() if y != unit and y in self.rows}
        total = math.fsum(map(math.exp, logs.values()))
        return {y: math.exp(log) / total for y, log in logs.items()} if total else {}

    def _even(self) -> dict[str, float]:
        return {unit: 1 / len(self.spread) for unit in self.spread}

    def _drawn(self, near: dict[str, float], around: tuple[Units, Units], draw: random.Random) -> str:
        if near and draw.random() < self.mix:
            return draw.choices(list(near), list(near.values()))[0]
        sums = np.cumsum(self.scorer.expected(*around))
        row = int(np.searchsorted(sums, draw.random() * sums[-1], "right"))
        return self.scorer.units[min(row, len(sums) - 1)]

    def _log(self, near: dict[str, float], around: tuple[Units, Units], unit: str) -> float:
        """log q of drawing a unit."""
        row = self.rows.get(unit)
        by_model = 0.0 if row is None else float(self.scorer.expected(*around)[row])
        q = self.mix * near.get(unit, 0.0) + (1 - self.mix) * by_model if near else by_model
        return math.log(q) if q > 0 else -math.inf


def drawn(logs: np.ndarray, draw: random.Random) -> int:
    """An index, in proportion to exp(logs)."""
    sums = list(accumulate(np.exp(logs - logs.max()).tolist()))
    at = draw.random() * sums[-1]
    return next(i for i, upto in enumerate(sums) if upto > at)
