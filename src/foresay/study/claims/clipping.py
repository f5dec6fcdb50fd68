"""Claim: clipping by the global norm changes a gradient's length, not its direction, and prevents NaN. docs/claims.md.

    cosine of the gradient before and after clipping to a tenth of its norm: by norm, by value, part by part
    runs of plain gradient descent that end in what is no number, with and without clipping by norm

study/claims/diverging.py says what network and what task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
import torch.nn.functional as F

from foresay.study import recall
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.diverging import LAG, ROWS, Descent, descend, explosive, share_of
from foresay.study.claims.training import one_thread
from foresay.study.claims.words_learning import average_of
from foresay.study.claims.words_picture import GREY, LOOKS, plain, sheet
from foresay.train.clip import ByNorm, ByParts, ByValue, Clip, gradients
from foresay.train.progress import Tell

RADIUS, RATE, LIMIT = 2.0, 0.1, 1.0
SAME = 1e-6  # as near to 1 as a cosine of float32 gradients comes
SEEDS, COSINES = 20, 5
TENTH = 0.1
NORM, VALUE, PARTS = "by norm", "by value", "part by part"


@dataclass(frozen=True)
class Size:
    """Updates of a run, and how many seeds."""

    updates: int
    seeds: int


QUICK, FULL = Size(100, SEEDS), Size(1000, 3 * SEEDS)


@claim(
    "clipping",
    lecture="002",
    sentence="Clipping by the global norm changes the gradient's length, not its direction, and prevents NaN.",
    rule=(
        f"holds when the cosine of the gradient before and after is 1 to {SAME:g} with every seed by norm, and its 95 "
        "% interval over seeds lies below 1 by value and part by part, and when the interval of the share of runs that "
        "diverge lies lower with clipping by norm than without; does not hold when a cosine by norm is not 1, or when "
        "the interval of the share lies above 0 with clipping and not below that without; else not decided. Elman with "
        f"ReLU, spectral radius {RADIUS:g}, gradient descent at {RATE:g}, {SEEDS} seeds (full: {3 * SEEDS})"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size = QUICK if quick else FULL
    seeds = range(size.seeds * seed, size.seeds * seed + size.seeds)
    with one_thread():
        cosines = [cosines_of(one) for one in seeds[:COSINES]]
        runs: dict[str, list[Descent]] = {"without": [], "clipped": []}
        for done, one in enumerate(seeds, 1):
            for name, clip in (("without", None), ("clipped", ByNorm(limit=LIMIT))):
                runs[name].append(descend(explosive(one, RADIUS), one, size.updates, RATE, clip))
            tell(done / len(seeds))
    figures = {name: average_of(f"cosine, clipped {name}", [one[name] for one in cosines]) for name in cosines[0]}
    shares = {name: share_of(f"diverged, {name}", sum(one.diverged is not None for one in own), len(own))
              for name, own in runs.items()}  # fmt: skip
    details = {"cosines": cosines, "runs": {name: [asdict(one) for one in own] for name, own in runs.items()}}
    verdict = judge([one[NORM] for one in cosines], figures, shares)
    return Result(
        verdict, [*figures.values(), *shares.values()], details | {"size": asdict(size)}, picture(cosines, runs)
    )


def judge(by_norm: Sequence[float], cosines: Mapping[str, Figure], shares: Mapping[str, Figure]) -> Verdict:
    """The rule."""
    same = all(abs(one - 1) <= SAME for one in by_norm)
    turned = all((cosines[name].high or 0) < 1 for name in (VALUE, PARTS))
    without, clipped = shares["without"], shares["clipped"]
    assert without.low is not None and clipped.high is not None and clipped.low is not None
    if same and turned and clipped.high < without.low:
        return "holds"
    return "does not hold" if not same or 0 < clipped.low >= without.low else "not decided at this size"


def cosines_of(seed: int) -> dict[str, float]:
    """Of one network's first gradient, each kind of clipping with a limit that shortens it to about a tenth."""
    model = explosive(seed, RADIUS)
    x, answers = recall.draw(ROWS, LAG, torch.Generator().manual_seed(seed))
    F.cross_entropy(model(x), answers).backward()
    before = [one.clone() for one in gradients(model)]
    whole = torch.cat([one.flatten() for one in before]).double()
    limits: dict[str, Clip] = {
        NORM: ByNorm(limit=TENTH * float(whole.norm())),
        VALUE: ByValue(limit=TENTH * float(whole.abs().max())),
        PARTS: ByParts(limit=TENTH * float(whole.norm())),
    }
    found = {}
    for name, clip in limits.items():
        for gradient, old in zip(gradients(model), before, strict=True):
            gradient.copy_(old)
        clip.apply(model, 0)
        after = torch.cat([one.flatten() for one in gradients(model)]).double()
        found[name] = float(whole @ after / (whole.norm() * after.norm()))
    return found


def picture(cosines: Sequence[Mapping[str, float]], runs: Mapping[str, Sequence[Descent]]) -> Any:
    """Cosines as dots, and how many runs are still numbers at each update."""
    drawn, (left, right) = sheet(2)
    for at, (name, (colour, mark)) in enumerate(zip(cosines[0], LOOKS, strict=False)):
        left.plot([at] * len(cosines), [one[name] for one in cosines], mark, color=colour, markersize=8, alpha=0.7)
    left.set_xticks(range(len(cosines[0])), list(cosines[0]))
    left.set_xlim(-0.5, len(cosines[0]) - 0.5)
    left.axhline(1, color=GREY, linestyle="--", linewidth=1)
    left.set_ylabel("cosine of the gradient before and after")
    plain(left, "Direction, each seed a mark")
    for (name, own), (colour, _) in zip(runs.items(), LOOKS, strict=False):
        ends = sorted(one.diverged for one in own if one.diverged is not None)
        updates = max(len(one.losses) for one in own)
        steps = [0, *ends, updates]
        left_over = [100 * (1 - sum(end <= at for end in ends) / len(own)) for at in steps]
        right.step(steps, left_over, where="post", color=colour, linewidth=2.2, label=name)
    right.set_ylim(-3, 103)
    right.set_xlabel("update")
    right.set_ylabel("runs that are still numbers, %")
    right.legend(frameon=False, loc="center right")
    plain(right, f"{len(next(iter(runs.values())))} runs of gradient descent")
    return drawn
