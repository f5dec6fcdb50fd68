"""How a right unit x comes to be observed as o: P(o | x), from confusion sets and from what was counted in pairs.

    P(x | x) = 1 - e_x                                                    left alone
    P(o | x) = e_x (c(x, o) + strength base(o | x)) / (c(x) + strength)    mistaken
    base(o | x) = Σ_s share_s [o in set_s(x)] / |set_s(x)| + share_any / V
    e_x = exp(-caution) (c(x) + strength wrong) / (n(x) + strength), at most 0.999

c counts mistakes in pairs, n how often x was meant there; without pairs both are 0. A source whose set of x is empty
leaves its share to `any`. Besides x there are V units that may be observed: the V - 1 other known ones, and all unknown
ones, which count as one; over these P sums to one. (From an unknown x all V known ones are others: V + 1 then.)

Beside that a unit may be left out (`delete`), another put in before it (`insert`), and two neighbours exchanged
(`swap`), each exp(-caution) times as often as `rates` says: see channel.py.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from foresay.decode.correct.confusions import Confusions
from foresay.errors import UserError

ANY = "any"
MOST = 0.999  # of a rate: something is left alone, however bold the caution
BOLDEST = 100.0  # caution lies between -100 and 100 nats
HEAVIEST = 100.0  # and weight below this


@dataclass(frozen=True)
class Rates:
    """How often a unit is mistaken for another, left out, preceded by one too many, exchanged with the next."""

    wrong: float = 0.01
    insert: float = 0.0
    delete: float = 0.0
    swap: float = 0.0

    @property
    def edits(self) -> bool:
        """Whether the number or the order of units may change."""
        return bool(self.insert or self.delete or self.swap)

    def times(self, factor: float) -> Rates:
        """All of them so many times as often; one unit meets at most one mistake, so they stay below 1 together."""
        lost = (self.delete + self.swap) * factor
        both = factor * min(1.0, MOST / lost) if lost else factor
        wrong, insert = min(self.wrong * factor, MOST), min(self.insert * factor, MOST)
        return Rates(wrong, insert, self.delete * both, self.swap * both)


@dataclass(frozen=True)
class Counted:
    """What pairs showed: mistaken[x][o], and how often each x was meant."""

    mistaken: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    meant: Mapping[str, int] = field(default_factory=dict)


class Noise:
    """P(observed | right) of one unit; `weight` and `caution` are how it is used beside a language model."""

    def __init__(
        self,
        confusions: Sequence[Confusions] = (),
        rates: Rates = Rates(),  # noqa: B008 - frozen
        shares: Mapping[str, float] | None = None,
        counted: Counted = Counted(),  # noqa: B008 - frozen
        strength: float = 20.0,
        weight: float = 1.0,
        caution: float = 0.0,
        unit: str = "",
    ):
        self.confusions, self.rates, self.counted, self.strength = list(confusions), rates, counted, strength
        self.weight, self.caution = checked_use(weight, caution)
        self.cautious = rates.times(math.exp(-self.caution))
        self.unit = unit  # what it counted, `character` or `word`; "" where that was not said
        equal = {source.part_name: 0.9 / len(self.confusions) for source in self.confusions}
        self.shares = dict(shares) if shares is not None else equal | {ANY: 1 - sum(equal.values())}
        self.units: list[str] = []
        self.known: frozenset[str] = frozenset()
        self._ranks: dict[str, int] = {}
        self._logs: dict[tuple[str, str], float] = {}
        self._candidates: dict[str, dict[str, float]] = {}
        self._sets: dict[str, list[frozenset[str]]] = {}
        self._backwards: dict[str, list[str]] = {}

    def build(self, units: Sequence[str]) -> Noise:
        """Tells which units there are; the noise itself."""
        seen = (wrong for own in self.counted.mistaken.values() for wrong in own)
        self.units = list(dict.fromkeys([*units, *self.counted.meant, *self.counted.mistaken, *seen]))
        self.known = frozenset(units)
        for source in self.confusions:
            source.build(self.units)
        self._ranks = {unit: rank for rank, unit in enumerate(self.units, 1)}
        self._logs, self._candidates, self._sets, self._backwards = {}, {}, {}, {}
        for right, wrongs in self.counted.mistaken.items():
            for wrong in wrongs:
                self._backwards.setdefault(wrong, []).append(right)
        return self

    def using(self, *, weight: float | None = None, caution: float | None = None) -> Noise:
        """The same noise with another weight of the language model, or another caution."""
        new = copy.copy(self)
        new.weight, new.caution = checked_use(
            self.weight if weight is None else weight, self.caution if caution is None else caution
        )
        new.cautious = new.rates.times(math.exp(-new.caution))
        new._logs, new._candidates = {}, {}
        return new

    def log_sub(self, right: str, observed: str) -> float:
        """log P(observed | right) of a unit that is neither left out nor exchanged."""
        found = self._logs.get((right, observed))
        if found is None:
            found = self._logs[right, observed] = self._log_sub(right, observed)
        return found

    def _log_sub(self, right: str, observed: str) -> float:
        times = self.counted.mistaken.get(right, {})
        wrong, meant = sum(times.values()), self.counted.meant.get(right, 0)
        error = (wrong + self.strength * self.rates.wrong) / (meant + self.strength) * math.exp(-self.caution)
        error = min(error, MOST)
        if right == observed:
            return math.log1p(-error)
        mass = error * (times.get(observed, 0) + self.strength * self.base(right, observed)) / (wrong + self.strength)
        return math.log(mass) if mass > 0 else -math.inf

    def base(self, right: str, observed: str) -> float:
        """What the sets say of a mistake, before anything is counted."""
        if right not in self._sets:
            self._sets[right] = [frozenset(source.of(right)) for source in self.confusions]
        found, left = 0.0, self.shares.get(ANY, 0.0)
        for source, own in zip(self.confusions, self._sets[right], strict=True):
            share = self.shares.get(source.part_name, 0.0)
            if not own:
                left += share
            elif observed in own:
                found += share / len(own)
        return found + left / max(len(self.units) + (right not in self._ranks), 1)

    def candidates(self, observed: str) -> dict[str, float]:
        """What may have been meant: the unit itself and all that a set or a count joins with it, likeliest first.

        Vocabularies are in the order of frequency, so a unit alone is about as likely as 1 / its rank.
        """
        if observed not in self._candidates:
            near = dict.fromkeys(other for source in self.confusions for other in source.of(observed))
            near |= dict.fromkeys(self._backwards.get(observed, ()))
            logs = {right: self.log_sub(right, observed) for right in near if right in self.known and right != observed}
            ordered = sorted(logs, key=lambda right: (math.log(1 + self._ranks[right]) - logs[right], right))
            self._candidates[observed] = {
                observed: self.log_sub(observed, observed), **{right: logs[right] for right in ordered}
            }  # fmt: skip
        return self._candidates[observed]


def checked_use(weight: float, caution: float) -> tuple[float, float]:
    """How a noise is used beside a language model, refused where it makes no sense."""
    if not 0 < weight < HEAVIEST:
        raise UserError(f"weight={weight}; allowed: above 0, and below {HEAVIEST:g}")
    if not -BOLDEST <= caution <= BOLDEST:
        raise UserError(f"caution={caution}; allowed: {-BOLDEST:g} to {BOLDEST:g} nats")
    return weight, caution
