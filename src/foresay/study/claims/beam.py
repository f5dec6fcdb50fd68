"""Claim: beam search beats greedy search, without guarantee. log P found, and how often it misses: docs/claims.md."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from foresay.decode.beam import Beam
from foresay.decode.exhaustive import Exhaustive
from foresay.decode.search import Found, Limits
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import Panel, draw
from foresay.text.tokens import SPECIALS, START, STOP
from foresay.train.progress import Tell

WIDTHS = (1, 2, 4, 8, 16)  # 1 is greedy search
SPREAD = 2.0  # of the scores in a table, before the softmax
SAME = 1e-9  # nats: rounding


@dataclass(frozen=True)
class Size:
    """So many tables a seed, of so many words, searched for sequences of at most `length` symbols."""

    tables: int
    words: int
    length: int


QUICK, FULL = Size(20, 5, 5), Size(12, 6, 6)


@dataclass(frozen=True)
class Searched:
    """What a beam found in the cases of one seed, in nats and shares of the cases."""

    seed: int
    width: int
    cases: int
    log_prob: float
    gain: float  # of log P over greedy search
    errors: float  # exhaustive search found a better one
    below: float  # greedy search did


class Trigram:
    """P(next | last two) by a table (V, V, V), drawn by chance; before the beginning stands <start>."""

    device, steady = torch.device("cpu"), True

    def __init__(self, words: int, seed: int):
        symbols = len(SPECIALS) + words
        chance = torch.Generator().manual_seed(seed)
        scores = SPREAD * torch.randn(symbols, symbols, symbols, generator=chance, dtype=torch.float64)
        scores[..., [one for one in range(len(SPECIALS)) if one != STOP]] = -torch.inf
        self.table = scores.log_softmax(-1)

    def begin(self, rows: int, condition: Any = None, capacity: int | None = None) -> dict[str, Tensor]:
        return {"last": torch.full((rows, 2), START)}

    def step(self, ids: Tensor, state: dict[str, Tensor], mask: Tensor | None = None) -> tuple[Tensor, Any]:
        last = state["last"]
        for column in range(ids.shape[1]):
            grown = torch.stack([last[:, 1], ids[:, column]], 1)
            last = grown if mask is None else torch.where(mask[:, column, None], grown, last)
        return self.table[last[:, 0], last[:, 1]], {"last": last}

    def reorder(self, state: dict[str, Tensor], rows: Tensor) -> dict[str, Tensor]:
        return {"last": state["last"][rows]}


@claim(
    "beam",
    lecture="004",
    sentence="Beam search beats greedy search, without guarantee.",
    rule=(
        "holds when for every K > 1 the 95 % interval over seeds of log P of the beam less greedy search's lies above "
        "0, and some beam misses the best sequence that exhaustive search finds; does not hold when one of these "
        "intervals lies below 0 or no beam ever misses, in the full form only; else not decided. Random trigrams, 3 "
        "seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    seeds, found = seeds_of(seed, quick), []
    for done, one in enumerate(seeds, 1):
        found += search(QUICK if quick else FULL, one)
        tell(done / len(seeds))
    return Result(judge(found, quick), figures(found), {"searches": [asdict(one) for one in found]}, picture(found))


def search(size: Size, seed: int) -> list[Searched]:
    """Every table from every prompt, <start> alone or a word after it, by every width."""
    words = range(len(SPECIALS), len(SPECIALS) + size.words)
    prompts, limits = [[], *([word] for word in words)], Limits(size.length)
    logs: dict[int, list[float]] = {width: [] for width in WIDTHS}
    best: list[float] = []
    for number in range(size.tables):
        model = Trigram(size.words, size.tables * seed + number)
        best += first_of(Exhaustive().find(model, prompts, limits))
        for width in WIDTHS:
            logs[width] += first_of(Beam(width).find(model, prompts, limits))
    return [summed(seed, width, own, logs[1], best) for width, own in logs.items()]


def first_of(found: Sequence[Sequence[Found]]) -> list[float]:
    return [own[0].log_prob for own in found]


def summed(seed: int, width: int, own: Sequence[float], greedy: Sequence[float], best: Sequence[float]) -> Searched:
    """log P of every case, of greedy and of exhaustive search -> means and shares."""
    gain = statistics.fmean(a - b for a, b in zip(own, greedy, strict=True))
    errors, below = (
        statistics.fmean(a < b - SAME for a, b in zip(own, other, strict=True)) for other in (best, greedy)
    )
    return Searched(seed, width, len(own), statistics.fmean(own), gain, errors, below)


def judge(found: Sequence[Searched], quick: bool) -> Verdict:
    """The rule."""
    gains = [gain_of(found, width) for width in widths_of(found) if width > 1]
    misses = any(one.errors > 0 for one in found if one.width > 1)
    if misses and all(gain.low is not None and gain.low > 0 for gain in gains):
        return "holds"
    refuted = not misses or any(gain.high is not None and gain.high < 0 for gain in gains)
    return "does not hold" if refuted and not quick else "not decided at this size"


def widths_of(found: Sequence[Searched]) -> list[int]:
    return sorted({one.width for one in found})


def gain_of(found: Sequence[Searched], width: int) -> Figure:
    own = [one.gain for one in found if one.width == width]
    return average_of(f"K = {width}: log P less greedy search's", own, "nats")


def figures(found: Sequence[Searched]) -> list[Figure]:
    """What a beam gains, how often it misses the best, and how often it is below greedy search."""
    shown = [gain_of(found, width) for width in widths_of(found) if width > 1]
    for width in widths_of(found):
        label, own = "greedy" if width == 1 else f"K = {width}", [one for one in found if one.width == width]
        shown.append(average_of(f"{label}: misses the best sequence", [100 * one.errors for one in own], "%"))
        if width > 1:
            shown.append(average_of(f"{label}: below greedy search", [100 * one.below for one in own], "%"))
    return shown


def picture(found: Sequence[Searched]) -> Any:
    """log P and the share of search errors against the width."""
    widths = widths_of(found)
    own = {width: [one for one in found if one.width == width] for width in widths}
    ticks = {width: "1 (greedy)" if width == 1 else str(width) for width in widths}
    gain = {"gain": {width: [one.gain for one in own[width]] for width in widths}}
    shares = {
        "misses the best sequence": {width: [100 * one.errors for one in own[width]] for width in widths},
        "below greedy search": {width: [100 * one.below for one in own[width]] for width in widths},
    }
    return draw([
        Panel("What a beam finds", "K", "log P less greedy search's, nats", gain, doubling=True, ticks=ticks),
        Panel("How often it fails", "K", "% of the cases", shares, doubling=True, ticks=ticks, bounds=(0, None)),
    ])  # fmt: skip
