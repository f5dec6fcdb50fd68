"""Claim: without negatives all vectors become one. The mean cosine of two words, by epochs: docs/claims.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.words_learning import average_of, learn, seeds_of, side_by_side
from foresay.study.claims.words_picture import Panel, draw
from foresay.study.claims.words_text import built_in
from foresay.text.tokens import SPECIALS
from foresay.train.progress import Tell
from foresay.vectors.nearest import unit_rows

ONE, APART = 0.99, 0.5
NUMBERS = (0, 5)
QUICK, FULL = (1, 2, 4, 8, 16, 32), (1, 2, 4, 8, 16, 32, 64, 128)
SIZE = 50


@dataclass(frozen=True)
class Trained:
    """The mean cosine of two different words after so many epochs; `loss` of the last one."""

    negatives: int
    seed: int
    epochs: int
    cosine: float
    loss: float


@claim(
    "collapse",
    lecture="004",
    sentence="Without negatives all vectors become one.",
    rule=(
        f"holds when after the last number of epochs the mean cosine of two words is above {ONE:g} for every seed "
        f"without drawn words, and below {APART:g} for every seed with {NUMBERS[1]}; does not hold when one of the two "
        "fails for every seed, in the full form only; else not decided. Skip-gram, 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    epochs = QUICK if quick else FULL
    jobs = [(number, one, many) for many in reversed(epochs) for number in NUMBERS for one in seeds_of(seed, quick)]
    found = sorted(side_by_side(train, jobs, tell), key=lambda one: one.epochs)
    last = [one for one in found if one.epochs == epochs[-1]]
    without, drawn = ([one.cosine for one in last if one.negatives == number] for number in NUMBERS)
    verdict = judge(without, drawn, quick)
    return Result(verdict, figures(last), {"runs": [asdict(one) for one in found]}, picture(found))


def train(job: tuple[int, int, int]) -> Trained:
    number, seed, epochs = job
    text, _ = built_in(seed)
    model = learn(text, seed, {"size": SIZE, "epochs": epochs, "loss": {"kind": "negative", "number": number}})
    cosine = mean_cosine(model.vectors.numpy()[len(SPECIALS) :])
    return Trained(number, seed, epochs, cosine, model.history[-1].loss)


def mean_cosine(matrix: np.ndarray) -> float:
    """Of all pairs of different rows: (|sum of the unit rows|^2 - V) / (V^2 - V)."""
    total, rows = unit_rows(matrix).astype(np.float64).sum(0), len(matrix)
    return float((total @ total - rows) / (rows * rows - rows))


def judge(without: Sequence[float], drawn: Sequence[float], quick: bool) -> Verdict:
    """The rule."""
    if min(without) > ONE and max(drawn) < APART:
        return "holds"
    if (max(without) <= ONE or min(drawn) >= APART) and not quick:
        return "does not hold"
    return "not decided at this size"


def figures(last: Sequence[Trained]) -> list[Figure]:
    """The cosine and the loss of both after the last number of epochs."""
    shown = []
    for number in NUMBERS:
        own = [one for one in last if one.negatives == number]
        label = f"{number} drawn words, {own[0].epochs} epochs"
        shown.append(average_of(f"mean cosine, {label}", [one.cosine for one in own]))
        shown.append(average_of(f"loss of a prediction, {label}", [one.loss for one in own], "nats"))
    return shown


def picture(found: Sequence[Trained]) -> Any:
    """The cosine against epochs."""
    epochs = sorted({one.epochs for one in found})
    lines = {
        f"{number} drawn words": {
            many: [one.cosine for one in found if (one.negatives, one.epochs) == (number, many)] for many in epochs
        }
        for number in NUMBERS
    }
    return draw([
        Panel(
            "How alike the vectors of two words are",
            "epochs over the Python reference",
            "mean cosine of two words",
            lines,
            {f"rule: above {ONE:g} without": ONE, f"rule: below {APART:g} with": APART},
            doubling=True,
            ticks={many: str(many) for many in epochs},
            legend=(0.03, 0.62),
            bounds=(None, 1.04),
        )
    ])  # fmt: skip
