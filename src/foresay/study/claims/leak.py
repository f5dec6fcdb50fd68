"""Claim: a bidirectional network is no causal language model. Loss on symbols drawn by chance: docs/claims.md.

    w_1 w_2 ... w_T drawn evenly from V symbols; at place t the network is asked for w_{t+1}

Nothing before it says what comes next: -log P cannot be below log V on the average. A network that reads both ways has
w_{t+1} among what it reads, and may copy it. A loss below log V on such symbols is a leak, in any model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.parts import make
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.training import train
from foresay.study.claims.words_learning import average_of
from foresay.study.claims.words_picture import LOOKS, plain, sheet
from foresay.train.progress import Tell

SYMBOLS, LENGTH, WIDTH = 16, 24, 32
CHANCE = math.log(SYMBOLS)
FORWARDS, BOTH_WAYS = "forwards", "both ways"
LEAKED, KEPT = 0.1, 0.95  # shares of log V: a loss below the first has leaked, above the second it has not
EVERY = 10  # steps from point to point of the picture


@dataclass(frozen=True)
class Size:
    """Steps of training, and seeds."""

    steps: int
    seeds: int
    rows: int = 32


QUICK, FULL = Size(steps=400, seeds=3), Size(steps=1000, seeds=5)


@claim(
    "leak",
    lecture="002",
    sentence="A bidirectional network cannot be used as a causal language model: it sees the word it is to predict.",
    rule=(
        f"on symbols drawn by chance, the loss as a share of log V, the least that is possible without a leak; holds "
        f"when the 95 % interval over seeds lies below {LEAKED:g} for a network that reads both ways and above "
        f"{KEPT:g} for one that reads forwards; does not hold when the first lies above {LEAKED:g} in the full form, "
        f"or the second below {KEPT:g}; else not decided. 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size = QUICK if quick else FULL
    seeds = range(size.seeds * seed, size.seeds * seed + size.seeds)
    curves: dict[str, list[list[float]]] = {FORWARDS: [], BOTH_WAYS: []}
    last: dict[str, list[float]] = {FORWARDS: [], BOTH_WAYS: []}
    for done, one in enumerate(seeds, 1):
        for name in curves:
            curve, loss = learnt(one, size, both=name == BOTH_WAYS)
            curves[name].append(curve)
            last[name].append(loss / CHANCE)
        tell(done / len(seeds))
    forwards, both = (average_of(f"loss / log V, {name}", last[name]) for name in (FORWARDS, BOTH_WAYS))
    return Result(judge(forwards, both, quick), [forwards, both], {"last": last, "curves": curves}, draw(curves))


def judge(forwards: Figure, both: Figure, quick: bool) -> Verdict:
    """The rule."""
    assert forwards.low is not None and forwards.high is not None and both.low is not None and both.high is not None
    if both.high < LEAKED and forwards.low > KEPT:
        return "holds"
    wrong = forwards.high < KEPT or (both.low > LEAKED and not quick)
    return "does not hold" if wrong else "not decided at this size"


class Reader(nn.Module):
    """Symbols (B, T) -> scores of the next at each place (B, T, V)."""

    def __init__(self, both: bool):
        super().__init__()
        self.symbols = nn.Embedding(SYMBOLS, WIDTH)
        self.encoder = make("encoder", {"kind": "recurrent", "size": 2 * WIDTH, "bidirectional": both})
        self.encoder.build(WIDTH)
        self.next = nn.Linear(2 * WIDTH, SYMBOLS)

    def forward(self, ids: Tensor) -> Tensor:
        return self.next(self.encoder(self.symbols(ids))[0])


def loss_of(reader: nn.Module, ids: Tensor) -> Tensor:
    """Mean -log P of each symbol but the first, asked for at the place before it."""
    return F.cross_entropy(reader(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())


def learnt(seed: int, size: Size, *, both: bool) -> tuple[list[float], float]:
    """The loss in training, and afterwards on new symbols."""
    generator, curve = torch.Generator().manual_seed(seed), []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        reader = Reader(both)

        def loss(step: int) -> Tensor:
            found = loss_of(reader, torch.randint(SYMBOLS, (size.rows, LENGTH), generator=generator))
            if step % EVERY == 0:
                curve.append(found.detach())
            return found

        train(reader, loss, size.steps, 5e-3)
    with torch.no_grad():
        after = float(loss_of(reader.eval(), torch.randint(SYMBOLS, (200, LENGTH), generator=generator)))
    return [float(one) for one in curve], after


def draw(curves: dict[str, list[list[float]]]) -> Any:
    """The losses of all seeds, and the least that is possible."""
    picture, (axes,) = sheet(1)
    for (name, own), (colour, _) in zip(curves.items(), LOOKS, strict=False):
        for n, curve in enumerate(own):
            axes.plot(steps_of(curve), curve, color=colour, linewidth=1.4, label=name if n == 0 else None)
    axes.axhline(CHANCE, color="#5A5A5A", linestyle="--", linewidth=1, label=f"log {SYMBOLS}: the least without a leak")
    axes.set_ylim(0, 1.15 * CHANCE)
    axes.set_xlabel("updates")
    axes.set_ylabel("-log P of the next symbol, nats")
    axes.legend(frameon=False, loc="center right")
    plain(axes, "The next of symbols drawn by chance: a line is one seed")
    return picture


def steps_of(curve: Sequence[float]) -> list[int]:
    return [EVERY * n for n in range(len(curve))]
