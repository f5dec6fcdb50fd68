"""Claim: several context words predict a word better than one. Held-out loss by the words seen: docs/claims.md."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.words_learning import average_of, fitting, learn, seeds_of, side_by_side
from foresay.study.claims.words_picture import Panel, draw
from foresay.study.claims.words_text import built_in
from foresay.train.progress import Tell

ALONE = 0  # the word before, and no other
SIDES = (1, 2, 3, 4, 5)
QUICK, FULL = (8, 16, 32), (2, 4, 8, 16, 32, 64)
# every word is kept, so that the nearest are the nearest
SETTINGS: dict[str, Any] = {"size": 50, "sample": 0.0, "lr": 0.05, "loss": {"kind": "negative", "number": 5}}


@dataclass(frozen=True)
class Held:
    """The held-out loss after so many epochs, with so many words on each side; 0: the word before alone."""

    words: int
    epochs: int
    seed: int
    loss: float


@claim(
    "context-words",
    lecture="003",
    sentence="Several context words predict a word better than one.",
    rule=(
        "d = the held-out loss of CBOW with the best k > 1 words on each side, less that of the word before "
        "alone, each at its best number of epochs: holds when the 95 % interval of d over seeds lies below 0; "
        "does not hold when it lies above 0, in the full form only; else not decided. Fixed windows, 5 drawn "
        "words, 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    epochs = QUICK if quick else FULL
    kinds = [(words, many) for many in reversed(epochs) for words in (ALONE, *SIDES)]
    jobs = [(words, many, one) for words, many in kinds for one in seeds_of(seed, quick)]
    found = sorted(side_by_side(train, jobs, tell), key=lambda one: (one.words, one.epochs, one.seed))
    best = {words: best_losses(found, words) for words in (ALONE, *SIDES)}
    chosen = min((words for words in SIDES if words > 1), key=lambda words: statistics.fmean(best[words][1]))
    pairs = zip(best[chosen][1], best[ALONE][1], strict=True)
    less = average_of(f"{chosen} words on each side − one word", [several - one for several, one in pairs], "nats")
    shown = [average_of(f"{_name(words)}, {many} epochs", own, "nats") for words, (many, own) in best.items()]
    return Result(judge(less, quick), [less, *shown], {"runs": [asdict(one) for one in found]}, picture(found))


def train(job: tuple[int, int, int]) -> Held:
    words, epochs, seed = job
    text, held_out = built_in(seed)
    predict = {"kind": "cbow", "window": words, "dynamic": False} if words else "one-word"
    model = learn(text, seed, SETTINGS | {"predict": predict, "epochs": epochs})
    return Held(words, epochs, seed, model.held_out(held_out, fitting(text, seed)))


def best_losses(found: Sequence[Held], words: int) -> tuple[int, list[float]]:
    """The number of epochs with the lowest mean loss, and the loss of each seed there."""
    own = {many: losses(found, words, many) for many in {one.epochs for one in found}}
    best = min(own, key=lambda many: statistics.fmean(own[many]))
    return best, own[best]


def losses(found: Sequence[Held], words: int, epochs: int) -> list[float]:
    return [one.loss for one in found if (one.words, one.epochs) == (words, epochs)]


def judge(less: Figure, quick: bool) -> Verdict:
    """The rule."""
    assert less.low is not None and less.high is not None
    if less.high < 0:
        return "holds"
    return "does not hold" if less.low > 0 and not quick else "not decided at this size"


def _name(words: int) -> str:
    return f"{words} on each side" if words else "the word before alone"


def picture(found: Sequence[Held]) -> Any:
    """The best loss of each, and the way of all over epochs."""
    kinds, epochs = sorted({one.words for one in found}), sorted({one.epochs for one in found})
    best = {"": {words: best_losses(found, words)[1] for words in kinds}}
    ticks = {words: f"{words}+{words}" if words else "1+0" for words in kinds}
    lines = {_name(words): {many: losses(found, words, many) for many in epochs} for words in kinds}
    up = "held-out loss of a prediction, nats"
    return draw([
        Panel("Each at its best number of epochs", "words seen, before + after", up, best, ticks=ticks),
        Panel("By epochs", "epochs", up, lines, doubling=True, ticks={many: str(many) for many in epochs}),
    ])  # fmt: skip
