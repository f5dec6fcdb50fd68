"""Claim: explosion is easy to solve, forgetting is not. With clipping on, what is left of each: docs/claims.md.

explosion     runs of plain gradient descent that end in what is no number: study/claims/diverging.py
forgetting    networks that, with clipping on, do not learn to recall a symbol 30 steps later: study/recall.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from foresay.encode.initial import Initial
from foresay.study import recall
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.clipping import LIMIT, RADIUS, RATE
from foresay.study.claims.diverging import LAG, RELU, descend, explosive, share_of
from foresay.study.claims.training import one_thread
from foresay.study.claims.words_picture import GREY, LOOKS, plain, sheet
from foresay.train.clip import ByNorm
from foresay.train.progress import Tell

HALF = 50.0  # %
TANH, EXPLOSIVE = "tanh", f"ReLU, radius {RADIUS:g}"
NETWORKS: dict[str, tuple[recall.Kind, Initial]] = {
    TANH: ("elman", Initial()),
    EXPLOSIVE: (RELU, Initial(radius=RADIUS)),
}


@dataclass(frozen=True)
class Size:
    """How many seeds, updates of gradient descent, and how large the recall is."""

    seeds: int
    descents: int
    recall: recall.Size


QUICK = Size(10, 100, recall.Size(parameters=4000, longest=LAG, updates=400))
FULL = Size(20, 1000, recall.Size(parameters=4000, longest=LAG, updates=3000))


@claim(
    "explosion",
    lecture="004",
    sentence="Explosion is easy to solve; forgetting is not.",
    rule=(
        "95 % intervals of shares of networks: holds when of those that explode without clipping by norm (above "
        f"{HALF:g} %) fewer than {HALF:g} % do with it, while with clipping fewer than {HALF:g} % learn to recall a "
        f"symbol {LAG} steps later at 95 % of fresh sequences, with tanh and with ReLU; does not hold when more than "
        f"{HALF:g} % still explode, or more than {HALF:g} % of either learn to recall, in the full form only; else not "
        f"decided. {QUICK.seeds} seeds and {QUICK.recall.updates} updates (full: {FULL.seeds}, {FULL.recall.updates})"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size = QUICK if quick else FULL
    seeds, ends, tried = range(size.seeds * seed, size.seeds * seed + size.seeds), list[dict[str, bool]](), {}
    with one_thread():
        for done, one in enumerate(seeds, 1):
            ends.append({name: exploded(one, size, clipped=name == "clipped") for name in ("without", "clipped")})
            for name, (cell, initial) in NETWORKS.items():
                tried.setdefault(name, []).append(recall.try_lag(cell, LAG, size.recall, one, initial)[0])
            tell(done / len(seeds))
    exploding = {name: share_of(f"explode, {name}", sum(one[name] for one in ends), len(ends)) for name in ends[0]}
    recalling = {name: share_of(f"recall {LAG} steps, clipped: {name}", sum(one.recalled for one in own), len(own))
                 for name, own in tried.items()}  # fmt: skip
    details = {
        "size": asdict(size),
        "exploded": ends,
        "tried": {n: [asdict(one) for one in own] for n, own in tried.items()},
    }
    figures = [*exploding.values(), *recalling.values()]
    return Result(judge(exploding, recalling, quick), figures, details, picture(figures, tried))


def judge(exploding: Mapping[str, Figure], recalling: Mapping[str, Figure], quick: bool) -> Verdict:
    """The rule."""
    without, clipped = exploding["without"], exploding["clipped"]
    lows, highs = zip(*((one.low or 0.0, one.high or 0.0) for one in recalling.values()), strict=True)
    assert without.low is not None and clipped.low is not None and clipped.high is not None
    if without.low > HALF > clipped.high and max(highs) < HALF:
        return "holds"
    wrong = clipped.low > HALF or max(lows) > HALF
    return "does not hold" if wrong and not quick else "not decided at this size"


def exploded(seed: int, size: Size, *, clipped: bool) -> bool:
    clip = ByNorm(limit=LIMIT) if clipped else None
    return descend(explosive(seed, RADIUS), seed, size.descents, RATE, clip).diverged is not None


def picture(figures: Sequence[Figure], tried: Mapping[str, Sequence[recall.Tried]]) -> Any:
    """The shares, and what each network recalls."""
    drawn, (left, right) = sheet(2)
    for at, (one, (colour, _)) in enumerate(zip(figures, LOOKS, strict=False)):
        assert one.value is not None and one.low is not None and one.high is not None
        left.bar(at, one.value, 0.6, color=colour, alpha=0.55)
        left.errorbar(at, one.value, [[one.value - one.low], [one.high - one.value]], color=colour, capsize=5)
    labels = ["explode,\nwithout clipping", "explode,\nclipped", *(f"recall,\n{name}" for name in tried)]
    left.set_xticks(range(len(figures)), labels, fontsize=9)
    left.axhline(HALF, color=GREY, linestyle="--", linewidth=1)
    left.set_ylim(0, 105)
    left.set_ylabel("networks, %")
    plain(left, "Shares with 95 % intervals")
    for (name, own), (colour, mark) in zip(tried.items(), LOOKS[2:], strict=False):
        shares = sorted(100 * one.accuracy for one in own)
        right.plot(range(1, len(own) + 1), shares, mark, color=colour, markersize=7, label=name)
    for level, text in ((100 * recall.ENOUGH, "95 %"), (100 / recall.SYMBOLS, "chance")):
        right.axhline(level, color=GREY, linestyle="--", linewidth=1)
        right.text(1.2, level + 1, text, color=GREY, fontsize=8.5, va="bottom")
    right.set_ylim(0, 103)
    right.set_xlabel("networks, the worst first")
    right.set_ylabel(f"recalled {LAG} steps later, %")
    right.legend(frameon=False, loc="center right")
    plain(right, "With clipping on")
    return drawn
