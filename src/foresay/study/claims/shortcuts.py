"""Claim: time shortcuts make gradients vanish slower. Elman's network that also sees h_{t-s}: docs/claims.md.

    h_t = tanh(x_t U + h_{t-1} W + h_{t-s} V + b)          s = 1: V is none

    slope of log ||dL_t / dh_{t-d}|| over d = 1 ... D        study/claims/gradient_decay.py

A second matrix also makes the recurrence stronger. So there is a network without a shortcut whose W is sqrt(2) times
as large, as large as W and V together, and shortcuts have to be slower than it too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from foresay.models.language_model import LanguageModel
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.gradient_decay import FAR, carried, norms_of
from foresay.study.claims.small_text import Size, build, learn, text_of
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import Panel, draw
from foresay.study.dynamics.gradient import fall
from foresay.train.progress import Tell

NONE, STRONGER = "s = 1", "s = 1, W √2 times as large"
STEPS = (2, 4, 8)
NETWORKS: dict[str, Any] = {NONE: "elman", STRONGER: "elman"}
NETWORKS |= {f"s = {s}": {"kind": "shortcut", "cell": "elman", "steps": s} for s in STEPS}
WHEN = ("before", "after")
HIDDEN = 48
QUICK, FULL = Size(300), Size(3000)


@dataclass(frozen=True)
class Profiled:
    """Norms of dL/dh_{t-d}, d = 1 ... FAR, before and after a network has learnt; its loss."""

    network: str
    seed: int
    loss: float
    before: list[float]
    after: list[float]

    def slope(self, when: str) -> float:
        return fall(getattr(self, when)).slope


@claim(
    "shortcuts",
    lecture="002",
    sentence="Time shortcuts make gradients vanish slower.",
    rule=(
        f"slope of log ‖∂L/∂h(t−d)‖ over d = 1 … {FAR}: holds when before learning and after, for s = 2, 4 and 8, the "
        "95 % interval over seeds of the slope with the shortcut less that without lies above 0, and less that of the "
        "stronger network without too; does not hold when one of those differences lies below 0, in the full form "
        f"only; else not decided. Elman, {HIDDEN} units, letters, 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds, found = QUICK if quick else FULL, seeds_of(seed, quick), list[Profiled]()
    jobs = [(name, one) for one in seeds for name in NETWORKS]
    for done, (name, one) in enumerate(jobs, 1):
        found.append(profiled(name, one, size))
        tell(done / len(jobs))
    gaps = {
        (when, s, than): gap(found, when, f"s = {s}", than) for when in WHEN for s in STEPS for than in (NONE, STRONGER)
    }
    slopes = [average_of(f"{name}: slope {when}", [one.slope(when) for one in of(found, name)], "a step")
              for when in WHEN for name in NETWORKS]  # fmt: skip
    losses = [average_of(f"{name}: loss", [one.loss for one in of(found, name)], "nats") for name in NETWORKS]
    details = {"size": asdict(size), "runs": [asdict(one) for one in found]}
    return Result(judge(gaps, quick), [*slopes, *gaps.values(), *losses], details, picture(found))


def of(found: Sequence[Profiled], network: str) -> list[Profiled]:
    return [one for one in found if one.network == network]


def gap(found: Sequence[Profiled], when: str, name: str, than: str) -> Figure:
    pairs = zip(of(found, name), of(found, than), strict=True)
    return average_of(
        f"{name} less {than}, {when}", [one.slope(when) - other.slope(when) for one, other in pairs], "a step"
    )


def judge(gaps: Mapping[Any, Figure], quick: bool) -> Verdict:
    """The rule."""
    if all((one.low or 0.0) > 0 for one in gaps.values()):
        return "holds"
    wrong = any((one.high or 0.0) < 0 for one in gaps.values())
    return "does not hold" if wrong and not quick else "not decided at this size"


def profiled(name: str, seed: int, size: Size) -> Profiled:
    text = text_of(seed)
    model = begin(name, seed, text.vocabulary)
    before = carried(norms_of(model, text, FAR))
    loss = learn(model, text, size, seed)
    return Profiled(name, seed, loss, before, carried(norms_of(model, text, FAR)))


def begin(name: str, seed: int, vocabulary: int) -> LanguageModel:
    model = build({"cell": NETWORKS[name], "size": HIDDEN}, seed, vocabulary)
    if name == STRONGER:
        with torch.no_grad():
            model.encoder.get_parameter("forwards.0.weight_hh").mul_(math.sqrt(2))
    return model


def picture(found: Sequence[Profiled]) -> Any:
    """log10 norm relative to d = 1, before and after."""
    across, up = "distance d", "log10 ‖∂L/∂h(t−d)‖ / ‖∂L/∂h(t−1)‖"
    shown = (1, *range(4, len(found[0].after) + 1, 4))
    panels = []
    for when, title in zip(WHEN, ("Before learning", "After"), strict=True):
        lines = {
            name: {d: [math.log10(norms[d - 1] / norms[0]) for norms in (getattr(o, when) for o in of(found, name))]
                   for d in shown}
            for name in NETWORKS
        }  # fmt: skip
        panels.append(Panel(title, across, up, lines))
    return draw(panels)
