"""Claim: stacked layers beat one wide layer of as many parameters. LSTMs over letters: docs/claims.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.depth import EQUAL_PARAMETERS, PARAMETERS, Stack, gain, of, stack
from foresay.study.claims.small_text import Size
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import Panel, draw
from foresay.train.progress import Tell

DEEP = (2, 4)
LAYERS = (1, *DEEP)
QUICK, FULL = Size(300), Size(4000, rate=3e-3)


@claim(
    "stacked",
    lecture="002",
    sentence="Stacked layers beat one wide layer.",
    rule=(
        f"LSTMs of {PARAMETERS:,} parameters each: holds when the 95 % interval over seeds of the loss with one wide "
        "layer less that with two, or less that with four, lies above 0; does not hold when both lie below 0, in the "
        "full form only; else not decided. 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds, found = QUICK if quick else FULL, seeds_of(seed, quick), list[Stack]()
    jobs = [(layers, one) for one in seeds for layers in LAYERS]
    for done, (layers, one) in enumerate(jobs, 1):
        found.append(stack(layers, EQUAL_PARAMETERS, one, size))
        tell(done / len(jobs))
    gains = {many: gain(found, EQUAL_PARAMETERS, 1, many) for many in DEEP}
    losses = [
        average_of(f"{n} of {width_at(found, n)} units: loss", of(found, n, EQUAL_PARAMETERS), "nats") for n in LAYERS
    ]
    details = {"size": asdict(size), "runs": [asdict(one) for one in found]}
    return Result(judge(gains, quick), [*gains.values(), *losses], details, picture(found))


def width_at(found: list[Stack], layers: int) -> int:
    return next(one.width for one in found if one.layers == layers)


def judge(gains: Mapping[int, Figure], quick: bool) -> Verdict:
    """The rule."""
    if any((one.low or 0.0) > 0 for one in gains.values()):
        return "holds"
    wrong = all((one.high or 0.0) < 0 for one in gains.values())
    return "does not hold" if wrong and not quick else "not decided at this size"


def picture(found: list[Stack]) -> Any:
    """The loss by layers."""
    line = {layers: of(found, layers, EQUAL_PARAMETERS) for layers in LAYERS}
    ticks = {n: str(n) for n in LAYERS}
    title = f"LSTMs of {PARAMETERS:,} parameters"
    return draw([Panel(title, "layers", "loss on held-out text, nats a letter", {"LSTM": line}, ticks=ticks)])
