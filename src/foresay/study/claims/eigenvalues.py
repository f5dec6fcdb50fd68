"""Claim: the greatest eigenvalue decides whether a state explodes or is forgotten; at 1 the second one. docs/claims.md.

h_k = W h_{k-1},  h_0 = (1, ..., 1) / sqrt(H)           study/dynamics/powers.py

slope of log ||h_k||                 over k = 50 ... 100 against log |lambda_1|       lambda_1 of 0.9, 1, 1.1 in size
slope of log ||h_k - what lasts||    over k = 10 ... 30  against log |lambda_2|       lambda_1 = 1
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.words_learning import average_of
from foresay.study.claims.words_picture import Panel, draw
from foresay.study.dynamics.powers import lasting, log_slope, responses, with_eigenvalues
from foresay.train.progress import Tell

CLOSE = 1e-6
WIDTH, STEPS, SEEDS = 32, 100, 5
SIZES, SECONDS = (0.9, 1.0, 1.1), (0.5, 0.9, -0.7)
REAL, TURNING = "real", "complex"
TURN = 0.7  # radians a step
SHOWN = (0, 1, 2, 5, *range(10, STEPS + 1, 10))


@dataclass(frozen=True)
class Measured:
    """Of one matrix: the eigenvalue that should decide, the slope found, and the norms it was found from."""

    case: str
    seed: int
    eigenvalue: float
    slope: float
    norms: list[float]

    @property
    def off(self) -> float:
        return abs(self.slope - math.log(abs(self.eigenvalue)))


@claim(
    "eigenvalues",
    lecture="004",
    sentence="With λ_max > 1 a state explodes, with λ_max < 1 it is forgotten; at 1 the second eigenvalue decides.",
    rule=(
        "in the linear recurrence from a uniform start, with every seed: holds when the slope of log ‖h_k‖ over k = "
        f"50 … 100 is log |λ₁| to {CLOSE:g}, for |λ₁| = 0.9, 1 and 1.1, real and complex, and with λ₁ = 1 that of the "
        f"distance to what lasts over k = 10 … 30 is log |λ₂| to {CLOSE:g}, for λ₂ = 0.5, 0.9 and −0.7; else does not "
        f"hold. {WIDTH} units, {SEEDS} seeds (full: {3 * SEEDS})"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    many = SEEDS if quick else 3 * SEEDS
    found: list[Measured] = []
    for done, one in enumerate(range(many * seed, many * seed + many), 1):
        found += measure(one)
        tell(done / many)
    cases = dict.fromkeys(one.case for one in found)
    own = {case: [one for one in found if one.case == case] for case in cases}
    figures = [average_of(f"slope, {case}", [one.slope for one in some]) for case, some in own.items()]
    furthest = max(one.off for one in found)
    figures.append(Figure("furthest from the logarithm", furthest, furthest, furthest))
    return Result(judge(found), figures, {"runs": [asdict(one) for one in found]}, picture(found))


def judge(found: Sequence[Measured]) -> Verdict:
    """The rule."""
    return "holds" if all(one.off <= CLOSE for one in found) else "does not hold"


def measure(seed: int) -> list[Measured]:
    """All matrices of a seed; those that do not decide have eigenvalues of 0.3 and less."""
    found = []
    for size in SIZES:
        for kind in (REAL, TURNING):
            first = complex(size) if kind == REAL else cmath.rect(size, TURN)
            weight = with_eigenvalues([first, *others(WIDTH - (1 if kind == REAL else 2))], seed)
            norms = responses(weight, STEPS).norm(dim=1)
            found.append(Measured(f"λ₁ = {size:g}, {kind}", seed, size, log_slope(norms, 50), norms.tolist()))
    for second in SECONDS:
        weight = with_eigenvalues([1.0, second, *others(WIDTH - 2, 0.1)], seed)
        states = responses(weight, 30)
        norms = (states - lasting(weight)).norm(dim=1)
        found.append(Measured(f"λ₁ = 1, λ₂ = {second:g}", seed, second, log_slope(norms, 10), norms.tolist()))
    return found


def others(many: int, most: float = 0.3) -> list[float]:
    """Eigenvalues spread between -most and most."""
    return [most * (2 * at / (many - 1) - 1) for at in range(many)]


def picture(found: Sequence[Measured]) -> Any:
    """Norms over steps by the first eigenvalue, and distances by the second."""
    sizes = [one for one in found if one.case.endswith(REAL)]
    seconds = [one for one in found if "λ₂" in one.case]
    return draw([
        Panel(
            "What is left of the start", "step k", "log10 ‖h_k‖",
            {one.case.split(",")[0]: _line(sizes, one.case, SHOWN) for one in sizes},
        ),
        Panel(
            "λ₁ = 1: how fast all but the first is forgotten", "step k", "log10 of the distance to what lasts",
            {one.case.split(", ")[1]: _line(seconds, one.case, range(0, 31, 3)) for one in seconds},
        ),
    ])  # fmt: skip


def _line(found: Sequence[Measured], case: str, shown: Sequence[int]) -> dict[int, list[float]]:
    own = [one.norms for one in found if one.case == case]
    return {k: [math.log10(norms[k]) for norms in own] for k in shown}
