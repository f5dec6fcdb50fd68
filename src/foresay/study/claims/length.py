"""Claim: longer texts score lower; dividing by L mends it. The slope of the score on the length: docs/claims.md.

    score = log P / L^alpha,   L = words written, <stop> too        relative slope = slope * mean L / mean |score|

The relative slope compares scores of different size: -1 when the score is in proportion to L, 0 when L does not matter.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.sentences import learn, log_prob, write
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import LOOKS, plain, sheet
from foresay.text.tokens import STOP
from foresay.train.progress import Tell

ALPHAS = (0.0, 1.0)
SMALL = 0.25  # of the relative slope without dividing
QUICK, FULL = 300, 3000  # texts of a seed
LONGEST = 200


@dataclass(frozen=True)
class Written:
    """The texts of one seed that came to an end: symbols with <stop>, and log P."""

    seed: int
    lengths: list[int]
    log_probs: list[float]

    def scores(self, alpha: float) -> list[float]:
        return [own / length**alpha for own, length in zip(self.log_probs, self.lengths, strict=True)]

    def slope(self, alpha: float) -> float:
        return statistics.linear_regression(self.lengths, self.scores(alpha)).slope

    def relative(self, alpha: float) -> float:
        size = statistics.fmean(map(abs, self.scores(alpha)))
        return self.slope(alpha) * statistics.fmean(self.lengths) / size


@claim(
    "length",
    lecture="004",
    sentence="Longer sequences score lower; dividing by L mends it.",
    rule=(
        "holds when the 95 % interval over seeds of the slope of log P on L lies below 0, and that of the relative "
        f"slope of log P / L holds 0 or lies within ± {SMALL:g} times the relative slope of log P; does not hold when "
        "the first lies above 0 or the second outside of it, in the full form only; else not decided. Texts drawn from "
        "a trigram, 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    seeds, found = seeds_of(seed, quick), []
    for done, one in enumerate(seeds, 1):
        found.append(draw_texts(one, QUICK if quick else FULL))
        tell(done / len(seeds))
    slopes = {alpha: average_of(f"slope of log P / L^{alpha:g} on L", [one.slope(alpha) for one in found], "nats")
              for alpha in ALPHAS}  # fmt: skip
    relative = {alpha: average_of(f"relative slope, alpha {alpha:g}", [one.relative(alpha) for one in found])
                for alpha in ALPHAS}  # fmt: skip
    figures = [*slopes.values(), *relative.values(), _length(found)]
    verdict = judge(slopes[0.0], relative[0.0], relative[1.0], quick)
    return Result(verdict, figures, {"texts": [asdict(one) for one in found]}, picture(found))


def draw_texts(seed: int, number: int) -> Written:
    """What a model writes and how it scores it; what has not ended after LONGEST words is left out."""
    model = learn(seed)
    texts = [[*ids, STOP] for ids in write(model, number, LONGEST, seed) if len(ids) < LONGEST]
    return Written(seed, [len(ids) for ids in texts], [log_prob(model, ids) for ids in texts])


def judge(slope: Figure, whole: Figure, divided: Figure, quick: bool) -> Verdict:
    """The rule; `whole` and `divided` are relative slopes with alpha 0 and 1."""
    assert slope.low is not None and slope.high is not None and whole.value is not None
    assert divided.low is not None and divided.high is not None
    edge = SMALL * abs(whole.value)
    if slope.high < 0 and (divided.low <= 0 <= divided.high or (-edge <= divided.low and divided.high <= edge)):
        return "holds"
    refuted = slope.low > 0 or divided.low > edge or divided.high < -edge
    return "does not hold" if refuted and not quick else "not decided at this size"


def _length(found: Sequence[Written]) -> Figure:
    return average_of("mean length", [statistics.fmean(one.lengths) for one in found], "symbols")


def picture(found: Sequence[Written]) -> Any:
    """Every text as a point, by its length; the line of each seed."""
    drawn, places = sheet(2)
    names = ("log P of a text, nats", "log P / L, nats a symbol")
    titles = ("Longer texts score lower", "Divided by their length")
    for axes, alpha, name, title in zip(places, ALPHAS, names, titles, strict=True):
        for one, (colour, mark) in zip(found, LOOKS, strict=False):
            scores = one.scores(alpha)
            axes.scatter(one.lengths, scores, s=9, alpha=0.35, color=colour, marker=mark, linewidths=0)
            line = statistics.linear_regression(one.lengths, scores)
            ends = [min(one.lengths), max(one.lengths)]
            heights = [line.intercept + line.slope * end for end in ends]
            label = f"seed {one.seed}: relative slope {one.relative(alpha):.2f}"
            axes.plot(ends, heights, color=colour, linewidth=2, label=label)
        axes.set_xlabel("L, symbols with <stop>")
        axes.set_ylabel(name)
        plain(axes, title)
        axes.legend(frameon=False, fontsize=9)
    return drawn
