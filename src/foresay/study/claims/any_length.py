"""Claim: one layer handles any length, in theory. Recall at ten times the lags that were learnt: docs/claims.md.

A network of one layer learns to recall a symbol 1, 2, 5, 10 or 20 steps later (study/recall.py), each batch another of
these lags, until the longest is recalled. Then it is asked 50, 100 and 200 steps later, which it has never seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from foresay.study import recall
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.training import one_thread
from foresay.study.claims.words_learning import average_of, seeds_of
from foresay.study.claims.words_picture import Panel, draw
from foresay.train.progress import Tell

LAGS, ASKED = (1, 2, 5, 10, 20), (1, 2, 5, 10, 20, 50, 100, 200)
TEN_TIMES = 10 * LAGS[-1]
NETWORKS: dict[str, recall.Kind] = {"RNN": "elman", "LSTM": "lstm", "GRU": "gru-cudnn"}
QUICK = recall.Size(parameters=4000, longest=LAGS[-1], updates=600)
FULL = recall.Size(parameters=4000, longest=LAGS[-1], updates=4000, tested=2048)


@dataclass(frozen=True)
class Learnt:
    """What one network recalls, by lag, in %, and the updates it took."""

    network: str
    seed: int
    updates: int
    accuracy: dict[int, float]


@claim(
    "any-length",
    lecture="004",
    sentence="One layer handles any length, in theory.",
    rule=(
        f"recall {TEN_TIMES} steps later of networks of one layer that have learnt lags of up to {LAGS[-1]}: holds "
        "when for the RNN, the LSTM or the GRU its 95 % interval over seeds lies above 95 % of fresh sequences; does not "
        f"hold when for all three it lies below, while that at {LAGS[-1]} lies above, in the full form only; else not "
        "decided. 4000 parameters, 3 seeds (full: 5)"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds, found = QUICK if quick else FULL, seeds_of(seed, quick), list[Learnt]()
    jobs = [(name, one) for name in NETWORKS for one in seeds]
    with one_thread():
        for done, (name, one) in enumerate(jobs, 1):
            found.append(learnt(name, one, size))
            tell(done / len(jobs))
    figures = {
        lag: {name: average_of(f"{name}: recalled {lag} steps later", of(found, name, lag), "%") for name in NETWORKS}
        for lag in (LAGS[-1], TEN_TIMES)
    }
    details = {"size": asdict(size), "runs": [asdict(one) for one in found]}
    verdict = judge(figures[LAGS[-1]], figures[TEN_TIMES], quick)
    return Result(verdict, [one for own in figures.values() for one in own.values()], details, picture(found))


def of(found: Sequence[Learnt], network: str, lag: int) -> list[float]:
    return [one.accuracy[lag] for one in found if one.network == network]


def judge(known: Mapping[str, Figure], far: Mapping[str, Figure], quick: bool) -> Verdict:
    """The rule."""
    enough = 100 * recall.ENOUGH
    if any((one.low or 0.0) > enough for one in far.values()):
        return "holds"
    failed = all((far[name].high or 0.0) < enough < (known[name].low or 0.0) for name in far)
    return "does not hold" if failed and not quick else "not decided at this size"


def learnt(name: str, seed: int, size: recall.Size) -> Learnt:
    model = recall.build(NETWORKS[name], size.parameters, seed)
    updates = recall.train(model, LAGS, size, torch.Generator().manual_seed(seed))
    fresh = torch.Generator().manual_seed(-1 - seed)
    return Learnt(name, seed, updates, {lag: 100 * recall.accuracy(model, lag, size.tested, fresh) for lag in ASKED})


def picture(found: Sequence[Learnt]) -> Any:
    """What is recalled by lag."""
    lines = {name: {lag: of(found, name, lag) for lag in ASKED} for name in NETWORKS}
    levels = {"95 %": 100 * recall.ENOUGH, "chance": 100 / recall.SYMBOLS}
    ticks = {lag: str(lag) for lag in ASKED}
    title = f"One layer; learnt are lags of up to {LAGS[-1]}"
    return draw([Panel(title, "lag", "recalled, %", lines, levels, doubling=True, ticks=ticks, bounds=(0, 105),
                       legend="lower left")])  # fmt: skip
