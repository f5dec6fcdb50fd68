"""Claim: skip-gram is harder to overfit than CBOW. Loss on the text and held out, by epochs: docs/claims.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.words_learning import (
    CBOW,
    PREDICTORS,
    SKIPGRAM,
    average_of,
    fitting,
    learn,
    seeds_of,
    side_by_side,
)  # fmt: skip
from foresay.study.claims.words_picture import Panel, draw
from foresay.study.claims.words_text import built_in
from foresay.train.progress import Tell

QUICK, FULL = (1, 2, 4, 8, 16, 32, 64), (1, 2, 4, 8, 16, 32, 64, 128)
SETTINGS: dict[str, Any] = {"size": 100}


@dataclass(frozen=True)
class Learnt:
    """The loss of a prediction in nats, on the text learnt from and on the part held out, nothing learnt meanwhile."""

    predictor: str
    epochs: int
    seed: int
    train: float
    held_out: float

    @property
    def gap(self) -> float:
        return self.held_out - self.train

    @property
    def relative(self) -> float:
        """In percent of the loss on the text."""
        return 100 * self.gap / self.train


@claim(
    "overfitting",
    lecture="004",
    sentence="Skip-gram is harder to overfit than CBOW.",
    rule=(
        "gap = held-out loss less the loss on the text, after the last number of epochs; relative gap = gap / "
        "loss on the text: holds when the 95 % intervals over seeds of skip-gram's less CBOW's lie below 0 for "
        "both; does not hold when both lie above 0, in the full form only; else not decided. Same text and "
        "settings, 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    epochs = QUICK if quick else FULL
    jobs = [(name, many, one) for many in reversed(epochs) for name in PREDICTORS for one in seeds_of(seed, quick)]
    found = sorted(side_by_side(train, jobs, tell), key=lambda one: (one.epochs, one.seed))
    last = {name: [one for one in found if (one.predictor, one.epochs) == (name, epochs[-1])] for name in PREDICTORS}
    pairs = list(zip(last[SKIPGRAM], last[CBOW], strict=True))
    gap = average_of("skip-gram's gap − CBOW's", [one.gap - other.gap for one, other in pairs], "nats")
    relative = average_of("the same, relative gaps", [one.relative - other.relative for one, other in pairs], "points")
    shown = [figure for name in PREDICTORS for figure in figures(name, last[name])]
    return Result(
        judge(gap, relative, quick), [gap, relative, *shown], {"runs": [asdict(one) for one in found]}, picture(found)
    )


def train(job: tuple[str, int, int]) -> Learnt:
    name, epochs, seed = job
    text, held_out = built_in(seed)
    model = learn(text, seed, SETTINGS | PREDICTORS[name] | {"epochs": epochs})
    how = fitting(text, seed)
    return Learnt(name, epochs, seed, model.held_out(text, how), model.held_out(held_out, how))


def judge(gap: Figure, relative: Figure, quick: bool) -> Verdict:
    """The rule."""
    assert gap.low is not None and gap.high is not None and relative.low is not None and relative.high is not None
    if gap.high < 0 and relative.high < 0:
        return "holds"
    if gap.low > 0 and relative.low > 0 and not quick:
        return "does not hold"
    return "not decided at this size"


def figures(name: str, last: Sequence[Learnt]) -> list[Figure]:
    """Both losses and the gaps after the last number of epochs."""
    label = f"{name}, {last[0].epochs} epochs"
    return [
        average_of(f"{label}: loss on the text", [one.train for one in last], "nats"),
        average_of(f"{label}: held-out loss", [one.held_out for one in last], "nats"),
        average_of(f"{label}: gap", [one.gap for one in last], "nats"),
        average_of(f"{label}: relative gap", [one.relative for one in last], "%"),
    ]


def picture(found: Sequence[Learnt]) -> Any:
    """Both losses, and the relative gap, by epochs."""
    epochs = sorted({one.epochs for one in found})
    ticks = {many: str(many) for many in epochs}

    def line(name: str, what: str) -> dict[int, list[float]]:
        own = [one for one in found if one.predictor == name]
        return {many: [getattr(one, what) for one in own if one.epochs == many] for many in epochs}

    both = {f"{name}, {label}": line(name, what)
            for label, what in (("held out", "held_out"), ("on the text", "train")) for name in PREDICTORS}  # fmt: skip
    gaps = {name: line(name, "relative") for name in PREDICTORS}
    return draw([
        Panel("Loss", "epochs", "loss of a prediction, nats", both, doubling=True, ticks=ticks),
        Panel("Gap", "epochs", "held out above text, % of the loss on the text", gaps, doubling=True, ticks=ticks),
    ])  # fmt: skip
