"""Claim: the LSTM gives no guarantee against vanishing and exploding gradients. Cases set by hand: docs/claims.md.

One unit that reads zeros and stands at h = c = 0, forget and input gate i, f, output gate o, and w from h to c~:

    c' = f c + i w h,   h' = o c'   near 0, so that     dL_t / dc_{t-d} = (f + i o w)^d dL_t / dc_t

    closed     f = sigmoid(-2), w = 0           vanishes
    turned     f = 1/2, w = -1                  vanishes faster
    open       f = sigmoid(30), w = 0           neither
    fed back   f = i = o = 1/2, w = 4           explodes
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from foresay.encode.recurrent import Recurrent
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.words_picture import Panel, draw
from foresay.study.dynamics.gradient import fall, profile
from foresay.train.progress import Tell

STEPS, CLOSE = 100, 1e-6
SMALL, LARGE = 1e-9, 1e9
CASES = {"closed": (-2.0, 0.0), "turned": (0.0, -1.0), "open": (30.0, 0.0), "fed back": (0.0, 4.0)}  # bias of f, w
VANISHES, EXPLODES = ("closed", "turned"), ("fed back",)
WIDTH, SCALES = 32, (1, 4, 8)  # of random networks, which are shown and do not count


@dataclass(frozen=True)
class Measured:
    """Of one case: the factor a step by hand, the slope measured, and norms of dL_t / dc_{t-d} for d = 1 ... STEPS."""

    case: str
    factor: float
    slope: float
    norms: list[float]

    @property
    def off(self) -> float:
        return abs(self.slope - math.log(abs(self.factor)))

    @property
    def ratio(self) -> float:
        return self.norms[-1] / self.norms[0]


@claim(
    "no-guarantee",
    lecture="004",
    sentence="The LSTM gives no guarantee against vanishing and exploding gradients.",
    rule=(
        f"LSTMs of one unit with weights set by hand: holds when the slope of log ‖∂L/∂c(t−d)‖ over d = 1 … {STEPS} is "
        f"log |f + i o w| to {CLOSE:g} in every case, and over these steps the gradient falls below {SMALL:g} of "
        f"itself in one and rises above {LARGE:g} of itself in another; else does not hold. Networks with random "
        "weights do not count"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    found = [measure(case) for case in CASES]
    tell(0.5)
    seeds = range(3 * seed, 3 * seed + 3) if quick else range(10 * seed, 10 * seed + 10)
    drawn = {scale: [of_random(one, scale) for one in seeds] for scale in SCALES}
    tell(1.0)
    figures = [Figure(f"{one.case}: slope", one.slope, one.slope, one.slope, "a step") for one in found]
    for one in found:
        slope = math.log(abs(one.factor))
        figures.append(Figure(f"{one.case}: by hand", slope, slope, slope, "a step"))
    details = {"cases": [asdict(one) for one in found], "random": {str(scale): own for scale, own in drawn.items()}}
    return Result(judge(found), figures, details, picture(found, drawn))


def judge(found: Sequence[Measured]) -> Verdict:
    """The rule."""
    right = all(one.off <= CLOSE for one in found)
    ratios = {one.case: one.ratio for one in found}
    vanishes = any(ratios[case] < SMALL for case in VANISHES)
    explodes = any(ratios[case] > LARGE for case in EXPLODES)
    return "holds" if right and vanishes and explodes else "does not hold"


def measure(case: str) -> Measured:
    forget, back = CASES[case]
    encoder = Recurrent(cell="lstm", size=1)
    encoder.build(1)
    with torch.no_grad():
        for one in encoder.parameters():
            one.zero_()
        encoder.get_parameter("forwards.0.bias_ih")[1] = forget
        encoder.get_parameter("forwards.0.weight_hh")[2] = back
    factor = 1 / (1 + math.exp(-forget)) + 0.25 * back
    norms = profile(encoder, torch.zeros(1, STEPS + 1, 1), lambda y: y.sum(), STEPS)["0.c"][1:]
    return Measured(case, factor, fall(norms).slope, norms)


def of_random(seed: int, scale: float) -> list[float]:
    """Norms of what is carried, of a network with recurrent weights so many times as large as they begin with."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoder = Recurrent(cell="lstm", size=WIDTH)
        encoder.build(4)
        x, pull = torch.randn(1, STEPS + 1, 4), torch.randn(WIDTH, dtype=torch.float64)
    with torch.no_grad():
        encoder.get_parameter("forwards.0.weight_hh").mul_(scale)
    found = profile(encoder, x, lambda y: (y * pull).sum(), STEPS)
    return [math.hypot(h, c) for h, c in zip(found["0.h"][1:], found["0.c"][1:], strict=True)]


def picture(found: Sequence[Measured], drawn: dict[int, list[list[float]]]) -> Any:
    """log10 norm relative to d = 1: the cases, and networks with random weights."""
    across, up, shown = "distance d", "log10 of the gradient's norm / that at d = 1", (1, *range(5, STEPS + 1, 5))
    cases = {f"{one.case}: f + i o w = {one.factor:.3g}": {d: [relative(one.norms, d)] for d in shown} for one in found}
    lines = {
        f"W as it begins × {scale}": {d: [relative(norms, d) for norms in own] for d in shown}
        for scale, own in drawn.items()
    }
    return draw([
        Panel("One unit, weights set by hand", across, up, cases),
        Panel(f"{WIDTH} units, random weights and inputs", across, up, lines),
    ])  # fmt: skip


def relative(norms: Sequence[float], d: int) -> float:
    return math.log10(norms[d - 1] / norms[0])
