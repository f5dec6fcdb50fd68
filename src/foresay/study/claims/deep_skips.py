"""Claim: deep recurrent networks (eight layers) need skip connections. LSTMs over letters: docs/claims.md.

    none        z_l = y_l          residual   z_l = y_l + z_{l-1}          highway, dense in the full form

A network has failed when its loss is no better than 95 % of that of knowing how frequent each letter is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import torch

from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.depth import Stack, of, stack
from foresay.study.claims.diverging import share_of
from foresay.study.claims.small_text import Size, Text, text_of
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import Panel, draw
from foresay.train.progress import Tell

NONE, RESIDUAL = "none", "residual"
WIRINGS, MORE = (NONE, RESIDUAL), ("highway", "dense")
DEPTHS, DEEP, WIDTH = (2, 8), 8, 32
NEEDED, LEARNT = 0.1, 0.95  # nats, and of the loss of frequencies
QUICK, FULL = Size(200), Size(2000, rate=3e-3)


@claim(
    "deep-skips",
    lecture="002",
    sentence="Deep recurrent networks (eight layers) need skip connections.",
    rule=(
        f"holds when the 95 % interval over seeds of the loss of {DEEP} layers without skip connections less that with "
        f"residuals lies above {NEEDED:g} nats a letter; does not hold when it lies below, in the full form only; else "
        f"not decided. LSTMs of {WIDTH} units a layer, 3 seeds (full: 5). Two layers, other wirings and the share that "
        "failed do not count"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds, found = QUICK if quick else FULL, seeds_of(seed, quick), list[Stack]()
    wirings = WIRINGS if quick else (*WIRINGS, *MORE)
    jobs = [(layers, wiring, one) for one in seeds for layers in DEPTHS for wiring in wirings]
    for done, (layers, wiring, one) in enumerate(jobs, 1):
        found.append(stack(layers, wiring, one, size, wiring=wiring, width=WIDTH))
        tell(done / len(jobs))
    frequencies = {one: loss_of_frequencies(text_of(one)) for one in seeds}
    more = {layers: less(found, layers) for layers in DEPTHS}
    losses = [average_of(f"{n} layers, {w}: loss", of(found, n, w), "nats") for n in DEPTHS for w in wirings]
    shares = [failed(found, DEEP, w, frequencies) for w in wirings]
    details = {"size": asdict(size), "runs": [asdict(one) for one in found], "loss of frequencies": frequencies}
    figures = [*more.values(), *losses, *shares]
    return Result(judge(more[DEEP], quick), figures, details, picture(found, frequencies))


def less(found: Sequence[Stack], layers: int) -> Figure:
    pairs = zip(of(found, layers, NONE), of(found, layers, RESIDUAL), strict=True)
    name = f"{layers} layers: loss without less that with residuals"
    return average_of(name, [one - other for one, other in pairs], "nats")


def judge(more: Figure, quick: bool) -> Verdict:
    """The rule."""
    assert more.low is not None and more.high is not None
    if more.low > NEEDED:
        return "holds"
    return "does not hold" if more.high < NEEDED and not quick else "not decided at this size"


def loss_of_frequencies(text: Text) -> float:
    """-log P of the held-out text by how frequent each letter is in the text that is learnt, nats; unseen ones count
    once."""
    counts = torch.bincount(text.learnt, minlength=text.vocabulary).double() + 1
    return -float((counts / counts.sum()).log()[text.held_out].mean())


def failed(found: Sequence[Stack], layers: int, wiring: str, frequencies: dict[int, float]) -> Figure:
    own = [one for one in found if (one.layers, one.kind) == (layers, wiring)]
    hits = sum(one.loss > LEARNT * frequencies[one.seed] for one in own)
    return share_of(f"{layers} layers, {wiring}: failed", hits, len(own))


def picture(found: Sequence[Stack], frequencies: dict[int, float]) -> Any:
    """The loss by layers and wiring."""
    wirings = dict.fromkeys(one.kind for one in found)
    lines = {wiring: {layers: of(found, layers, wiring) for layers in DEPTHS} for wiring in wirings}
    level = {"frequencies alone": sum(frequencies.values()) / len(frequencies)}
    ticks = {layers: str(layers) for layers in DEPTHS}
    title = f"LSTMs of {WIDTH} units a layer"
    return draw([Panel(title, "layers", "loss on held-out text, nats a letter", lines, level, ticks=ticks)])
