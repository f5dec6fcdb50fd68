"""Claim: beginning with the identity as recurrent matrix helps. What is recalled, and what diverges: docs/claims.md.

    W = uniform within 1/sqrt(H), the identity, or orthogonal       Elman's network with ReLU, in the full form tanh too

Longest lag recalled: study/recall.py. Diverged: gradient descent without clipping, study/claims/diverging.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from foresay.encode.initial import Initial
from foresay.study import recall
from foresay.study.claims.claim import Figure, Result, Verdict, claim, mean_of
from foresay.study.claims.diverging import RELU, WIDTH, descend, share_of
from foresay.study.claims.training import one_thread
from foresay.study.claims.words_learning import seeds_of
from foresay.study.claims.words_picture import Panel, draw
from foresay.train.progress import Tell

BEGINNINGS = {name: Initial(weights=name) for name in ("uniform", "identity", "orthogonal")}
TANH: recall.Kind = "elman"
DESCENTS, RATE, RUNS = 30, 0.1, 20


@dataclass(frozen=True)
class Searched:
    """What one network of a beginning recalled at each lag it was trained on."""

    network: str
    beginning: str
    seed: int
    tried: list[recall.Tried]

    @property
    def remembered(self) -> float:
        """Half a step where not even one is recalled."""
        return max(recall.remembered(self.tried), 0.5)


QUICK = recall.Size(parameters=4000, longest=64, updates=200)
FULL = recall.Size(parameters=4000, longest=256, updates=2000)


@claim(
    "identity",
    lecture="004",
    sentence="Beginning with the identity as the recurrent matrix helps.",
    rule=(
        "longest lag recalled by Elman's network with ReLU: holds when its 95 % interval over seeds lies higher with "
        "the identity than with uniform weights; does not hold when it lies lower, or when the share of runs that "
        "diverge without clipping lies higher, in the full form only; else not decided. 4000 parameters, 3 seeds "
        "(full: 5). Orthogonal weights, and tanh, do not count"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, seeds, found = QUICK if quick else FULL, seeds_of(seed, quick), list[Searched]()
    networks = {"ReLU": RELU} if quick else {"ReLU": RELU, "tanh": TANH}
    jobs = [(network, begin, one) for network in networks for begin in BEGINNINGS for one in seeds]
    with one_thread():
        for done, (network, begin, one) in enumerate(jobs, 1):
            found.append(search(network, networks[network], begin, one, size))
            tell(done / len(jobs))
        shares = {begin: diverged(begin, seed) for begin in BEGINNINGS}
    lags = {
        (network, begin): longest(f"{network}, {begin}: remembers", of(found, network, begin), size.longest)
        for network in networks
        for begin in BEGINNINGS
    }
    own = {begin: lags["ReLU", begin] for begin in BEGINNINGS}
    details = {"size": asdict(size), "runs": [asdict(one) for one in found]}
    return Result(judge(own, shares, quick), [*lags.values(), *shares.values()], details, picture(found))


def of(found: Sequence[Searched], network: str, begin: str) -> list[Searched]:
    return [one for one in found if (one.network, one.beginning) == (network, begin)]


def longest(name: str, found: Sequence[Searched], most: int) -> Figure:
    lags = [one.remembered for one in found]
    return mean_of(name, lags, "steps", at_least=most in lags)


def judge(lags: Mapping[str, Figure], shares: Mapping[str, Figure], quick: bool) -> Verdict:
    """The rule. Lags that end where the search does are at least so long, so they cannot be the lower ones."""
    (low, high), (least, most) = ((one.low or 0.0, one.high or 0.0) for one in (lags["identity"], lags["uniform"]))
    if low > most and not lags["uniform"].at_least:
        return "holds"
    worse = high < least and not lags["identity"].at_least
    worse |= (shares["identity"].low or 0.0) > (shares["uniform"].high or 0.0)
    return "does not hold" if worse and not quick else "not decided at this size"


def search(network: str, cell: recall.Kind, begin: str, seed: int, size: recall.Size) -> Searched:
    """Lags twice as long until one is not recalled, then once between."""
    tried: list[recall.Tried] = []
    while (lag := recall.next_lag(tried, size.longest)) is not None:
        tried.append(recall.try_lag(cell, lag, size, seed, BEGINNINGS[begin])[0])
    return Searched(network, begin, seed, tried)


def diverged(begin: str, seed: int) -> Figure:
    """Of networks with ReLU, by gradient descent without clipping."""
    ends = []
    for one in range(RUNS * seed, RUNS * seed + RUNS):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(one)
            model = recall.Recaller(RELU, WIDTH, BEGINNINGS[begin])
        ends.append(descend(model, one, DESCENTS, RATE, None).diverged is not None)
    return share_of(f"ReLU, {begin}: diverge without clipping", sum(ends), len(ends))


def picture(found: Sequence[Searched]) -> Any:
    """What is recalled at every lag that was tried, by beginning."""
    panels = []
    for network in dict.fromkeys(one.network for one in found):
        lines: dict[str, dict[int, list[float]]] = {}
        for begin in BEGINNINGS:
            tried = [one for run in of(found, network, begin) for one in run.tried]
            lags = sorted({one.lag for one in tried})
            lines[begin] = {lag: [100 * one.accuracy for one in tried if one.lag == lag] for lag in lags}
        levels = {"95 %": 100 * recall.ENOUGH, "chance": 100 / recall.SYMBOLS}
        panels.append(Panel(
            f"Elman with {network}", "lag", "recalled after training on this lag, %", lines, levels, doubling=True,
            ticks={lag: str(lag) for lag in (1, 2, 4, 8, 16, 32, 64, 128, 256)}, bounds=(0, 105),
        ))  # fmt: skip
    return draw(panels)
