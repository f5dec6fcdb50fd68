"""Claim: a network with a weight for every position shares none of them. Accuracy at an unseen offset: docs/claims.md.

    . . x . .  a b  . . .        which of the K pairs stands somewhere among dots? trained with it in the first half of
    . . . . .  . .  a b .        the places, asked with it in the second half

One reader has a weight for each position: all vectors of a row in one long vector, then dense layers (an MLP over the
padded sequence). Others use the same weights everywhere: a ConvNet with max over time, and a bidirectional LSTM.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.encode.pool import Max
from foresay.parts import make
from foresay.study.claims import bars
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.training import train
from foresay.study.claims.words_learning import average_of
from foresay.train.progress import Tell

LENGTH, LETTERS, WIDTH, HIDDEN = 16, 4, 16, 64  # places of a row, letters that pairs are made of, and widths
KINDS = LETTERS * LETTERS  # a pair of letters is the answer
DOT = LETTERS
HALF = LENGTH // 2
DENSE, CONVOLUTION, BOTH_WAYS = "MLP over positions", "ConvNet", "biLSTM"
SHARED: dict[str, Any] = {
    CONVOLUTION: {"kind": "convolution", "kernels": [[2, HIDDEN]]},
    BOTH_WAYS: {"kind": "recurrent", "size": HIDDEN, "bidirectional": True},
}
MOVED = 20.0  # points


@dataclass(frozen=True)
class Size:
    """Steps of training, and seeds."""

    steps: int
    seeds: int
    rows: int = 64


QUICK, FULL = Size(steps=300, seeds=3), Size(steps=1000, seeds=5)


@claim(
    "offset",
    lecture="002",
    sentence="An MLP over all positions shares no weights between them: what it learnt at one it cannot do at another.",
    rule=(
        "of each network, accuracy at seen places less accuracy at unseen ones; holds when the 95 % interval over "
        f"seeds of the MLP's lies above {MOVED:g} points, and above that of the ConvNet; does not hold when the MLP's "
        f"lies below {MOVED:g} points or below the ConvNet's; else not decided. 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size = QUICK if quick else FULL
    seeds = range(size.seeds * seed, size.seeds * seed + size.seeds)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in (DENSE, *SHARED)}
    for done, one in enumerate(seeds, 1):
        for name in found:
            found[name].append(learnt(name, one, size))
        tell(done / len(seeds))
    lost = {
        name: average_of(f"lost at unseen places, {name}", [seen - new for seen, new in own], "points")
        for name, own in found.items()
    }
    places = [
        average_of(f"accuracy at {where} places, {name}", [one[at] for one in own], "%")
        for name, own in found.items()
        for at, where in enumerate(("seen", "unseen"))
    ]
    return Result(judge(lost[DENSE], lost[CONVOLUTION]), [*places, *lost.values()], {"accuracy": found}, draw(found))


def judge(dense: Figure, shared: Figure) -> Verdict:
    """The rule."""
    assert dense.low is not None and dense.high is not None and shared.low is not None and shared.high is not None
    if dense.low > max(MOVED, shared.high):
        return "holds"
    return "does not hold" if dense.high < max(MOVED, shared.low) else "not decided at this size"


class Reader(nn.Module):
    """Letters (B, T) -> scores of the pairs (B, K)."""

    def __init__(self, name: str):
        super().__init__()
        self.letters, self.encoder = nn.Embedding(LETTERS + 1, WIDTH), None
        if name == DENSE:
            self.features: nn.Module = nn.Sequential(nn.Linear(LENGTH * WIDTH, HIDDEN), nn.ReLU())
        else:
            self.encoder, self.features = make("encoder", SHARED[name]), Max()
            self.encoder.build(WIDTH)
            self.features.build(HIDDEN)
        self.kinds = nn.Linear(HIDDEN, KINDS)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.letters(ids)
        return self.kinds(self.features(x.flatten(1) if self.encoder is None else self.encoder(x)[0]))


def rows_of(number: int, first: int, last: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Rows (B, T) of dots with a pair that begins at a place from `first` to `last`, and which pair it is (B,)."""
    kinds = torch.randint(KINDS, (number,), generator=generator)
    places = torch.randint(first, last + 1, (number,), generator=generator)
    ids = torch.full((number, LENGTH), DOT)
    each = torch.arange(number)
    ids[each, places], ids[each, places + 1] = kinds // LETTERS, kinds % LETTERS
    return ids, kinds


def learnt(name: str, seed: int, size: Size) -> tuple[float, float]:
    """Accuracy in % with the pair in the first half of the places, as in training, and in the second."""
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        reader = Reader(name)

        def loss(_: int) -> Tensor:
            ids, kinds = rows_of(size.rows, 0, HALF - 2, generator)
            return F.cross_entropy(reader(ids), kinds)

        train(reader, loss, size.steps, 3e-3)
    seen = accuracy(reader.eval(), *rows_of(1000, 0, HALF - 2, generator))
    return seen, accuracy(reader, *rows_of(1000, HALF, LENGTH - 2, generator))


@torch.no_grad()
def accuracy(reader: Callable[[Tensor], Tensor], ids: Tensor, kinds: Tensor) -> float:
    return 100 * float((reader(ids).argmax(1) == kinds).double().mean())


def draw(found: dict[str, list[tuple[float, float]]]) -> Any:
    """Accuracy at seen and unseen places, a dot for every seed."""
    places = {
        f"{where} places": {name: [one[at] for one in own] for name, own in found.items()}
        for at, where in enumerate(("seen", "unseen"))
    }
    title = "A pair learnt at some places, asked for at others"
    return bars.draw(places, title, "pairs named rightly, %", {"guessing": 100 / KINDS})
