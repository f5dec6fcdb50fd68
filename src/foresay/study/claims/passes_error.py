"""Claim: the additive cell passes error to all its predecessors. ||dL_t / ds_{t-d}|| for d = 1 ... 500: docs/claims.md.

    additive     h' = h + tanh(x U + h W + b):     ds'/ds = I + diag(1 - tanh^2) W, of which the I passes everything on

s is all that a cell carries. The networks are language models over letters, before and after they have learnt.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from foresay.study.claims.claim import Figure, Result, Verdict, claim, mean_of
from foresay.study.claims.gradient_decay import carried, norms_of
from foresay.study.claims.small_text import Size, build, learn, text_of
from foresay.study.claims.words_learning import seeds_of
from foresay.study.claims.words_picture import Panel, draw
from foresay.train.progress import Tell

ADDITIVE = "additive"
CELLS: dict[str, Any] = {ADDITIVE: "additive", "RNN": "elman", "LSTM": "lstm"}
FAR, PLACES, HIDDEN = 500, 8, 48
PASSED = 0.1  # of the norm one step back
WHEN = ("before", "after")
QUICK, FULL = Size(200), Size(3000)


@dataclass(frozen=True)
class Passed:
    """Norms of what is carried, d = 1 ... FAR, before and after a network has learnt."""

    cell: str
    seed: int
    loss: float
    before: list[float]
    after: list[float]

    def ratio(self, when: str) -> float:
        """Of the farthest to the nearest."""
        norms = getattr(self, when)
        return norms[-1] / norms[0]

    def relative(self, when: str, d: int) -> float:
        norms = getattr(self, when)
        return math.log10(norms[d - 1] / norms[0])


@claim(
    "passes-error",
    lecture="003",
    sentence="The additive cell passes error to all its predecessors.",
    rule=(
        f"the norm of ∂L/∂s(t−{FAR}) over that of ∂L/∂s(t−1): holds when for the additive cell its 95 % interval over "
        f"seeds lies above {PASSED:g} before learning and after, and for the RNN below it; does not hold when for the "
        f"additive cell it lies below {PASSED:g}, before or after; else not decided. {HIDDEN} units, letters, 3 seeds "
        "(full: 5). How much larger than 1 it is does not count, nor does the LSTM"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds, found = QUICK if quick else FULL, seeds_of(seed, quick), list[Passed]()
    jobs = [(name, one) for one in seeds for name in CELLS]
    for done, (name, one) in enumerate(jobs, 1):
        found.append(passed(name, one, size))
        tell(done / len(jobs))
    ratios = {
        (name, when): mean_of(
            f"{name}: norm at {FAR} over that at 1, {when}", [one.ratio(when) for one in of(found, name)]
        )
        for when in WHEN
        for name in CELLS
    }
    details = {"size": asdict(size), "runs": [asdict(one) for one in found]}
    return Result(judge(ratios), list(ratios.values()), details, picture(found))


def of(found: Sequence[Passed], cell: str) -> list[Passed]:
    return [one for one in found if one.cell == cell]


def judge(ratios: Mapping[tuple[str, str], Figure]) -> Verdict:
    """The rule."""
    own, other = ([ratios[name, when] for when in WHEN] for name in (ADDITIVE, "RNN"))
    if min(one.low or 0.0 for one in own) > PASSED > max(one.high or 0.0 for one in other):
        return "holds"
    return "does not hold" if min(one.high or 0.0 for one in own) < PASSED else "not decided at this size"


def passed(name: str, seed: int, size: Size) -> Passed:
    text = text_of(seed)
    model = build({"cell": CELLS[name], "size": HIDDEN}, seed, text.vocabulary)
    before = carried(norms_of(model, text, FAR, PLACES))
    loss = learn(model, text, size, seed)
    return Passed(name, seed, loss, before, carried(norms_of(model, text, FAR, PLACES)))


def picture(found: Sequence[Passed]) -> Any:
    """log10 norm relative to d = 1, before and after."""
    across, up = "distance d", "log10 ‖∂L/∂s(t−d)‖ / ‖∂L/∂s(t−1)‖"
    far = len(found[0].after)
    shown = sorted({1, far, *range(far // 20 or 1, far, far // 20 or 1)})
    panels = []
    for when, title in zip(WHEN, ("Before learning", "After"), strict=True):
        lines = {name: {d: [one.relative(when, d) for one in of(found, name)] for d in shown} for name in CELLS}
        panels.append(Panel(title, across, up, lines, {f"a tenth at {far}": math.log10(PASSED)}))
    return draw(panels)
