"""Claim: the coupled LSTM has fewer parameters, the GRU much fewer. Counted, and learnt with as many: docs/claims.md.

    parameters of one layer of H units that reads D numbers, as built       D = H of 64, 256, 1024

    LSTM 4 (D H + H H + 2 H)    peephole 4 (D H + H H + H) + 3 H H    coupled 3 (D H + H H + H)    GRU 3 (D H + H H)

The loss is that of language models over letters with as nearly equal numbers of parameters as whole units allow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from foresay.encode.cells.cell import Cell
from foresay.parts import make
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.small_text import Size, build, learn, text_of, width_for
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import GREY, LOOKS, plain, sheet
from foresay.study.recall import count
from foresay.train.progress import Tell

LSTM, PEEPHOLE, COUPLED, GRU = "LSTM", "peephole", "coupled", "GRU"
CELLS = {LSTM: "lstm", PEEPHOLE: "peephole", COUPLED: "coupled", GRU: "gru"}
FORMULAS: dict[str, Callable[[int, int], int]] = {
    LSTM: lambda d, h: 4 * (d * h + h * h + 2 * h),
    PEEPHOLE: lambda d, h: 4 * (d * h + h * h + h) + 3 * h * h,
    COUPLED: lambda d, h: 3 * (d * h + h * h + h),
    GRU: lambda d, h: 3 * (d * h + h * h),
}
WIDTHS = (64, 256, 1024)
MUCH = 2.0  # times as much saved
PARAMETERS = 20_000
QUICK, FULL = Size(300), Size(3000)


@dataclass(frozen=True)
class Learnt:
    """Of one cell and seed: units, parameters of the whole model, the loss."""

    cell: str
    seed: int
    width: int
    parameters: int
    loss: float


@claim(
    "fewer-parameters",
    lecture="004",
    sentence="The coupled LSTM has fewer parameters than the LSTM, the GRU much fewer.",
    rule=(
        "parameters of a layer as built, which must be the formula's, with 64, 256 and 1024 units: holds when at every "
        f"width the coupled LSTM has fewer than the LSTM and the GRU saves at least {MUCH:g} times as many; else does "
        "not hold. The full peephole LSTM, and losses with equal numbers of parameters, do not count"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds, found = QUICK if quick else FULL, seeds_of(seed, quick), list[Learnt]()
    counts = {width: {name: counted(name, width) for name in CELLS} for width in WIDTHS}
    jobs = [(name, one) for one in seeds for name in CELLS]
    for done, (name, one) in enumerate(jobs, 1):
        found.append(learnt(name, one, size))
        tell(done / len(jobs))
    figures = [whole(f"{name}, {width} units", counts[width][name]) for width in WIDTHS for name in CELLS]
    losses = [average_of(f"{name}: loss with as many", [one.loss for one in found if one.cell == name], "nats")
              for name in CELLS]  # fmt: skip
    details = {"size": asdict(size), "runs": [asdict(one) for one in found], "counts": counts}
    return Result(judge(counts), [*figures, *losses], details, picture(counts, found))


def whole(name: str, number: int) -> Figure:
    return Figure(name, number, number, number, "parameters")


def judge(counts: Mapping[int, Mapping[str, int]]) -> Verdict:
    """The rule."""
    right = all(own[name] == FORMULAS[name](width, width) for width, own in counts.items() for name in CELLS)
    saved = [(own[LSTM] - own[COUPLED], own[LSTM] - own[GRU]) for own in counts.values()]
    return "holds" if right and all(one > 0 and MUCH * one <= other for one, other in saved) else "does not hold"


def counted(name: str, width: int) -> int:
    """The parameters of a cell as it is built; nothing is computed."""
    cell: Cell = make("cell", CELLS[name])
    with torch.random.fork_rng(devices=[]):
        cell.build(width, width)
    return count(cell)


def learnt(name: str, seed: int, size: Size) -> Learnt:
    text = text_of(seed)
    width = width_for({"cell": CELLS[name]}, PARAMETERS, text.vocabulary)
    model = build({"cell": CELLS[name], "size": width}, seed, text.vocabulary)
    return Learnt(name, seed, width, count(model), learn(model, text, size, seed))


def picture(counts: Mapping[int, Mapping[str, int]], found: Sequence[Learnt]) -> Any:
    """Parameters over the LSTM's by width, and losses with equal numbers."""
    drawn, (left, right) = sheet(2)
    wide = 0.8 / len(WIDTHS)
    for at, (width, own) in enumerate(counts.items()):
        for place, name in enumerate(CELLS):
            share = 100 * own[name] / own[LSTM]
            x = place + wide * (at - 1)
            left.bar(
                x, share, 0.95 * wide, color=LOOKS[at][0], alpha=0.6, label=f"{width} units" if not place else None
            )
            left.text(x, share + 2, f"{share:.0f}", ha="center", fontsize=8.5)
    left.axhline(100, color=GREY, linestyle="--", linewidth=1)
    left.set_xticks(range(len(CELLS)), list(CELLS))
    left.set_ylabel("parameters, % of the LSTM's")
    left.legend(frameon=False, loc="upper right", fontsize=9)
    left.set_ylim(0, 165)
    plain(left, "One layer that reads as many numbers as it has units")
    for place, (name, (colour, mark)) in enumerate(zip(CELLS, LOOKS, strict=False)):
        losses = [one.loss for one in found if one.cell == name]
        right.plot([place] * len(losses), losses, mark, color=colour, markersize=8, alpha=0.7)
    right.set_xticks(range(len(CELLS)), list(CELLS))
    right.set_xlim(-0.5, len(CELLS) - 0.5)
    right.set_ylabel("loss on held-out text, nats")
    plain(right, f"With {PARAMETERS:,} parameters each, every seed a mark")
    return drawn
