"""Claim: temperature gives diversity. Different pairs of words, and self-BLEU, by temperature: docs/claims.md.

    distinct-n = different n-grams / all n-grams of a set of texts
    self-BLEU  = mean over texts of BLEU-4 against all the others

All texts have the same number of words: both measures depend on it. So no text is too short for its references.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.sentences import learn, write
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import Panel, draw
from foresay.train.progress import Tell

TEMPERATURES = (0.3, 0.5, 0.7, 1.0, 1.2, 1.5)
LENGTH = 10  # words of a text; shorter ones are left out, longer ones cut
ORDERS = (1, 2, 3)
BLEU = 4


@dataclass(frozen=True)
class Size:
    """So many texts are written at each temperature, and at most so many compared."""

    written: int
    compared: int


QUICK, FULL = Size(300, 100), Size(1500, 400)


@dataclass(frozen=True)
class Written:
    """How different the texts of one temperature are, in %."""

    seed: int
    temperature: float
    texts: int
    distinct: dict[int, float]  # by n
    self_bleu: float


@claim(
    "temperature",
    lecture="004",
    sentence="Temperature gives diversity.",
    rule=(
        "holds when from each temperature to the next the mean over seeds of distinct-2 rises and that of self-BLEU "
        "falls, and for both the 95 % intervals of the lowest and the highest temperature are apart; does not hold "
        "when for one of the two they are not apart, or the wrong way round, in the full form only; else not decided. "
        f"Texts of {LENGTH} words from a trigram, 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    seeds, found = seeds_of(seed, quick), []
    for done, one in enumerate(seeds, 1):
        found += compare(one, QUICK if quick else FULL)
        tell(done / len(seeds))
    distinct, bleu = averages(found)
    figures = [figure for own in (distinct, bleu) for figure in own]
    return Result(judge(distinct, bleu, quick), figures, {"texts": [asdict(one) for one in found]}, picture(found))


def compare(seed: int, size: Size) -> list[Written]:
    """As many texts at every temperature."""
    model = learn(seed)
    texts = {one: long_enough(write(model, size.written, LENGTH, seed, one)) for one in TEMPERATURES}
    number = min(size.compared, *map(len, texts.values()))
    return [
        Written(
            seed,
            temperature,
            number,
            {n: 100 * distinct(own[:number], n) for n in ORDERS},
            100 * self_bleu(own[:number]),
        )
        for temperature, own in texts.items()
    ]


def long_enough(texts: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    return [text for text in texts if len(text) == LENGTH]


def grams(text: Sequence[int], n: int) -> Counter[tuple[int, ...]]:
    return Counter(tuple(text[at : at + n]) for at in range(len(text) - n + 1))


def distinct(texts: Sequence[Sequence[int]], n: int) -> float:
    every = sum((grams(text, n) for text in texts), Counter())
    return len(every) / every.total()


def self_bleu(texts: Sequence[Sequence[int]]) -> float:
    """For texts of one length; an order without a match counts as 1/2, 1/4 ... of one, as in sacrebleu."""
    counts = {n: [grams(text, n) for text in texts] for n in range(1, BLEU + 1)}
    return statistics.fmean(_bleu(counts, row) for row in range(len(texts)))


def _bleu(counts: dict[int, list[Counter[tuple[int, ...]]]], row: int) -> float:
    logs, missed = [], 1.0
    for every in counts.values():
        others = every[:row] + every[row + 1 :]
        own = every[row]
        matched = float(sum(min(many, max(other[gram] for other in others)) for gram, many in own.items()))
        if not matched:
            missed /= 2
            matched = missed
        logs.append(math.log(matched / own.total()))
    return math.exp(statistics.fmean(logs))


def averages(found: Sequence[Written]) -> tuple[list[Figure], list[Figure]]:
    """distinct-2 and self-BLEU over seeds, by rising temperature."""
    distinct_2, bleu = [], []
    for temperature in sorted({one.temperature for one in found}):
        own = [one for one in found if one.temperature == temperature]
        distinct_2.append(average_of(f"distinct-2 at {temperature:g}", [one.distinct[2] for one in own], "%"))
        bleu.append(average_of(f"self-BLEU at {temperature:g}", [one.self_bleu for one in own], "%"))
    return distinct_2, bleu


def judge(distinct: Sequence[Figure], bleu: Sequence[Figure], quick: bool) -> Verdict:
    """The rule; figures by rising temperature."""
    falling = tuple(reversed(bleu))
    if all(_apart(own) for own in (distinct, falling)):
        return "holds" if all(_rises(own) for own in (distinct, falling)) else "not decided at this size"
    return "not decided at this size" if quick else "does not hold"


def _apart(figures: Sequence[Figure]) -> bool:
    """The last lies above the first."""
    high, low = figures[0].high, figures[-1].low
    assert high is not None and low is not None
    return high < low


def _rises(figures: Sequence[Figure]) -> bool:
    return all(a.value is not None and b.value is not None and a.value < b.value for a, b in pairwise(figures))


def picture(found: Sequence[Written]) -> Any:
    """Both measures against temperature."""
    temperatures = sorted({one.temperature for one in found})
    own = {at: [one for one in found if one.temperature == at] for at in temperatures}
    different = {f"distinct-{n}": {at: [one.distinct[n] for one in own[at]] for at in temperatures} for n in ORDERS}
    alike = {"self-BLEU": {at: [one.self_bleu for one in own[at]] for at in temperatures}}
    return draw([
        Panel("How many n-grams are different", "temperature", "%", different, bounds=(0, 100)),
        Panel("How alike the texts are", "temperature", "self-BLEU, %", alike, bounds=(0, None)),
    ])  # fmt: skip
