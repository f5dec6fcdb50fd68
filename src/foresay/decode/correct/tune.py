"""A noise model from pairs: counts of what was written for what, how much each kind of confusion explains, rates.

    rate    = (seen + PRIOR usual) / (units + PRIOR)    of wrong, insert, delete, swap; usual: that of the noise before
    share_s = by EM: how much of the mistakes each source explains, none counted (`any` takes what no set holds);
              MISTAKES more are divided as the sets' usual shares say

so that few pairs change little, and what they do not show stays possible. Where an edit usually does not happen at all,
as in Chinese, it does only after SEEN of them: every edit makes each text several times as long to look at.

Then `weight` and `caution` are chosen on other pairs, both sides of each: the best correction F1 with false alarms
below a bound. Those pairs must not have been counted, nor their right sides read by the language model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

from foresay.decode.correct.align import align
from foresay.decode.correct.confusions import Confusions
from foresay.decode.correct.measure import Judged, measure
from foresay.decode.correct.noise import ANY, Counted, Noise, Rates

ROUNDS = 50
PRIOR = 1000  # units of text that went wrong as usual
MISTAKES = 2  # that the sets explain as usual
SEEN = 5  # an edit that is not usual, met less often in all pairs, is an accident
WEIGHTS = (0.8, 1.0, 1.2)
CAUTIONS = (-1.0, 0.0, 1.0, 2.0, 3.0)


@dataclass
class Tally:
    """What pairs of units show."""

    mistaken: dict[str, Counter[str]]
    meant: Counter[str]
    inserted: int = 0
    deleted: int = 0
    swapped: int = 0


def count(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Tally:
    """Counts of (wrong, right) in units, by the fewest edits between them."""
    tally = Tally({}, Counter())
    for wrong, right in pairs:
        tally.meant.update(right)
        for one in align(right, wrong):
            if one.is_swap:
                tally.swapped += 1
            elif one.low == one.high:
                tally.inserted += 1
            elif one.begin == one.end:
                tally.deleted += 1
            else:
                tally.mistaken.setdefault(right[one.low], Counter())[wrong[one.begin]] += 1
    return tally


def learn(
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]],
    confusions: Sequence[Confusions],
    units: Sequence[str],
    *,
    usual: Rates = Rates(),  # noqa: B008 - frozen
    strength: float = 20.0,
) -> Noise:
    """A noise model of the pairs, built over these units; rates are pulled to the usual ones."""
    tally = count(pairs)
    total = sum(tally.meant.values())
    mistakes = sum(sum(own.values()) for own in tally.mistaken.values())

    def rate(seen: int, before: float) -> float:
        return (seen + PRIOR * before) / (total + PRIOR) if before or seen >= SEEN else 0.0

    rates = Rates(
        rate(mistakes, usual.wrong or 1 / PRIOR), rate(tally.inserted, usual.insert),
        rate(tally.deleted, usual.delete), rate(tally.swapped, usual.swap),
    )  # fmt: skip
    counted = Counted({right: dict(own) for right, own in tally.mistaken.items()}, dict(tally.meant))
    noise = Noise(confusions, rates, None, counted, strength).build(units)
    noise.shares = explain(noise)
    return noise


def explain(noise: Noise) -> dict[str, float]:
    """The share of each source, by EM over the mistakes that were counted, from the shares that the noise has."""
    names = [*(source.part_name for source in noise.confusions), ANY]
    usual = [noise.shares.get(name, 0.0) for name in names]
    rows: list[tuple[int, list[float]]] = []
    for right, wrongs in noise.counted.mistaken.items():
        sets = [frozenset(source.of(right)) for source in noise.confusions]
        for wrong, times in wrongs.items():
            even = [1 / len(own) if wrong in own else 0.0 for own in sets]
            rows.append((times, [*even, 1 / max(len(noise.units), 1)]))
    shares = usual
    for _ in range(ROUNDS if rows else 0):
        taken = [0.0] * len(shares)
        for times, own in rows:
            parts = [share * p for share, p in zip(shares, own, strict=True)]
            taken = [all_so_far + times * part / sum(parts) for all_so_far, part in zip(taken, parts, strict=True)]
        pulled = [mass + MISTAKES * share for mass, share in zip(taken, usual, strict=True)]
        shares = [mass / sum(pulled) for mass in pulled]
    return dict(zip(names, shares, strict=True))


class Usable(Protocol):
    """A noise that can be used more or less boldly."""

    weight: float
    caution: float

    def using(self, *, weight: float | None = None, caution: float | None = None) -> Self: ...


N = TypeVar("N", bound=Usable)


def choose(
    correct: Callable[[Sequence[str], N], Sequence[str]],
    noise: N,
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]],
    *,
    most_alarms: float = 0.1,
    weights: Sequence[float] = WEIGHTS,
    cautions: Sequence[float] = CAUTIONS,
    tell: Callable[[float], None] = lambda share: None,
) -> tuple[N, list[dict[str, Any]]]:
    """The noise with the best weight and caution on pairs and their right sides, and what each choice gave.

    Of equally good ones the most careful: the highest caution, then the least weight.
    """
    noises = [noise.using(weight=weight, caution=caution) for weight in weights for caution in cautions]
    judged: list[list[Judged]] = [[] for _ in noises]
    given = [(wrong, right) for pair in pairs for wrong, right in _both_sides(*pair)]
    for number, (wrong, right) in enumerate(given, 1):  # all choices for one text: the model is asked once
        for own, one in zip(judged, noises, strict=True):
            own.append(Judged(wrong, right, correct(wrong, one)))
        tell(number / len(given))
    tried = [
        {"weight": one.weight, "caution": one.caution, **measure(own)} for one, own in zip(noises, judged, strict=True)
    ]
    fair = [i for i, one in enumerate(tried) if (one["false_alarm_rate"] or 0.0) <= most_alarms]

    def careful(i: int) -> tuple[float, float]:
        return tried[i]["caution"], -tried[i]["weight"]

    best = max(fair, key=lambda i: (tried[i]["correction"]["f1"], *careful(i)), default=None)
    if best is None:  # none is careful enough: the one with the fewest false alarms
        best = max(range(len(tried)), key=lambda i: (-tried[i]["false_alarm_rate"], *careful(i)))
    return noises[best], tried


def _both_sides(wrong: Sequence[str], right: Sequence[str]) -> list[tuple[Sequence[str], Sequence[str]]]:
    """A pair, and its right side as a sentence without mistakes."""
    return [(wrong, right), (right, right)] if tuple(wrong) != tuple(right) else [(right, right)]
