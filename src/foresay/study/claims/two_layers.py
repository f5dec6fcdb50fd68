"""Claim: two layers are a lot better than one, three a little better than two. LSTMs over letters: docs/claims.md.

gain = loss with fewer layers - loss with one more, nats a letter          equal width, and equal parameters
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.depth import EQUAL_PARAMETERS, EQUAL_WIDTH, Stack, gain, of, stack
from foresay.study.claims.small_text import Size
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import Panel, draw
from foresay.train.progress import Tell

KINDS, LAYERS = (EQUAL_WIDTH, EQUAL_PARAMETERS), (1, 2, 3)
A_LOT, LITTLE = 0.05, 0.0  # nats
QUICK, FULL = Size(300), Size(4000, rate=3e-3)


@claim(
    "two-layers",
    lecture="002",
    sentence="Two layers are a lot better than one, three a little better than two.",
    rule=(
        f"at equal width and at equal parameters: holds when the 95 % interval over seeds of the loss with one layer "
        f"less that with two lies above {A_LOT:g} nats a letter, and that of two less three above 0 with a mean below "
        f"half of the first; does not hold when at either the first lies below {A_LOT:g} or the second below 0, in the "
        "full form only; else not decided. LSTMs, 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds, found = QUICK if quick else FULL, seeds_of(seed, quick), list[Stack]()
    jobs = [(layers, kind, one) for one in seeds for kind in KINDS for layers in LAYERS]
    for done, (layers, kind, one) in enumerate(jobs, 1):
        found.append(stack(layers, kind, one, size))
        tell(done / len(jobs))
    gains = {kind: (gain(found, kind, 1, 2), gain(found, kind, 2, 3)) for kind in KINDS}
    losses = [average_of(f"{kind}: loss with {n}", of(found, n, kind), "nats") for kind in KINDS for n in LAYERS]
    details = {"size": asdict(size), "runs": [asdict(one) for one in found]}
    return Result(
        judge(gains, quick), [*(one for own in gains.values() for one in own), *losses], details, picture(found)
    )


def judge(gains: Mapping[str, tuple[Figure, Figure]], quick: bool) -> Verdict:
    """The rule."""
    right, wrong = [], []
    for first, second in gains.values():
        assert first.value is not None and first.low is not None and first.high is not None
        assert second.value is not None and second.low is not None and second.high is not None
        right.append(first.low > A_LOT and second.low > LITTLE and second.value < first.value / 2)
        wrong.append(first.high < A_LOT or second.high < LITTLE)
    if all(right):
        return "holds"
    return "does not hold" if any(wrong) and not quick else "not decided at this size"


def picture(found: list[Stack]) -> Any:
    """The loss by layers."""
    lines = {kind: {layers: of(found, layers, kind) for layers in LAYERS} for kind in KINDS}
    less = {kind: {n: [a - b for a, b in zip(of(found, n, kind), of(found, 1, kind), strict=True)] for n in LAYERS}
            for kind in KINDS}  # fmt: skip
    ticks = {layers: str(layers) for layers in LAYERS}
    return draw([
        Panel("Loss by depth", "layers", "loss on held-out text, nats a letter", lines, ticks=ticks),
        Panel("Against one layer, seed by seed", "layers", "nats a letter; below 0 is better", less, ticks=ticks),
    ])  # fmt: skip
