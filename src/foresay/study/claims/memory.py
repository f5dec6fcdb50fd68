"""Claim: an LSTM remembers about 100 steps, an RNN about 7. What "remembers" means: study/recall.py, docs/claims.md."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
from dataclasses import asdict, dataclass

import torch

from foresay.study import recall
from foresay.study.claims.claim import Figure, Result, Verdict, claim, interval, mean_of
from foresay.study.claims.memory_picture import draw
from foresay.train.progress import Tell

SEEDS = 5
FACTOR = 5.0
LATE = "LSTM, forget bias 5"  # keeps 0.993 of its memory at each step from the beginning
NETWORKS: dict[str, recall.Kind] = {"RNN": "elman", "LSTM": "lstm", LATE: {"kind": "lstm", "forget_bias": 5.0}}
MORE: dict[str, recall.Kind] = {"GRU": "gru-cudnn"}  # in the full form
QUICK = recall.Size(parameters=4000, longest=128, updates=500)
FULL = recall.Size(parameters=4000, longest=512, updates=3000, tested=2048)
PROFILED = 64  # steps back over which the gradient's half-life is fitted


@dataclass(frozen=True)
class Searched:
    """What one seed of a cell recalls; norms[d] is ||dJ/dh_{t-d}|| of the network that recalls its longest lag."""

    network: str
    seed: int
    parameters: int
    width: int
    tried: list[recall.Tried]
    remembered: int
    norms_before: list[float]
    norms: list[float]


@claim(
    "memory",
    lecture="004",
    sentence="An LSTM remembers about 100 steps, an RNN about 7.",
    rule=(
        f"holds when the LSTM's 95 % interval of the longest lag recalled lies above {FACTOR:g} times the RNN's; "
        f"does not hold when it lies below {FACTOR:g} times the RNN's, in the full form only; else not decided. "
        f"{SEEDS} seeds, equal numbers of parameters"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, networks = (QUICK, NETWORKS) if quick else (FULL, NETWORKS | MORE)
    runs = search_all(networks, size, seed, tell)
    own = {name: [one for one in runs if one.network == name] for name in networks}
    longest = {name: longest_lag(name, own[name], size.longest) for name in networks}
    before = {name: half_life(name, [one.norms_before for one in own[name]], "before") for name in networks}
    after = {name: half_life(name, [one.norms for one in own[name]], "after") for name in networks}
    verdict = judge(longest["RNN"], longest["LSTM"], quick)
    details = {"size": asdict(size), "runs": [asdict(one) for one in runs]}
    figures = [*longest.values(), *before.values(), *after.values()]
    return Result(verdict, figures, details, draw(own, longest, before, after))


def longest_lag(name: str, runs: list[Searched], most: int) -> Figure:
    """The longest lag over seeds; a network that recalls not even one step counts as half a step."""
    found = [max(run.remembered, 0.5) for run in runs]
    return mean_of(f"{name} remembers", found, "steps", at_least=most in found)


def half_life(name: str, profiles: list[list[float]], when: str) -> Figure:
    """ln 2 / the mean slope over seeds; without limit where the gradient does not fall."""
    middle, least, most = interval([recall.decay(norms) for norms in profiles])
    value, low, high = (math.log(2) / slope if slope > 0 else math.inf for slope in (middle, most, least))
    return Figure(f"{name}: gradient halves in, {when} training", value, low, high, "steps")


def judge(rnn: Figure, lstm: Figure, quick: bool) -> Verdict:
    """The rule. What was cut short cannot refute: not a quick run, nor an LSTM that recalled the longest lag tried."""
    assert rnn.low is not None and rnn.high is not None and lstm.low is not None and lstm.high is not None
    if lstm.low > FACTOR * rnn.high and not rnn.at_least:
        return "holds"
    if lstm.high < FACTOR * rnn.low and not lstm.at_least and not quick:
        return "does not hold"
    return "not decided at this size"


def search_all(networks: dict[str, recall.Kind], size: recall.Size, seed: int, tell: Tell) -> list[Searched]:
    """Every network with every seed, in processes of their own, one a core; the order changes nothing.

    On CPU cores also where there is a GPU: a step of 64 rows and 54 units is too small for it.
    """
    seeds = range(SEEDS * seed, SEEDS * seed + SEEDS)
    jobs = [(name, networks[name], one, size) for name in reversed(networks) for one in seeds]  # longest first
    found: list[Searched] = []
    workers = min(os.cpu_count() or 1, len(jobs))
    with multiprocessing.get_context("spawn").Pool(workers, _begin_worker) as pool:
        for one in pool.imap_unordered(_search, jobs):
            found.append(one)
            tell(len(found) / len(jobs))
    return sorted(found, key=lambda one: one.seed)


def _begin_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    torch.set_num_threads(1)


def _search(job: tuple[str, recall.Kind, int, recall.Size]) -> Searched:
    return search_one(*job)


def search_one(name: str, cell: recall.Kind, seed: int, size: recall.Size) -> Searched:
    """The longest lag of one seed, and the gradients of the network before and after it was trained on that lag."""
    chance = torch.Generator().manual_seed(seed)
    best = recall.build(cell, size.parameters, seed)
    before = recall.gradient_norms(best, PROFILED, 32, chance)
    tried: list[recall.Tried] = []
    while (lag := recall.next_lag(tried, size.longest)) is not None:
        found, model = recall.try_lag(cell, lag, size, seed)
        tried.append(found)
        best = model if found.recalled and lag == recall.remembered(tried) else best
    after = recall.gradient_norms(best, PROFILED, 32, chance)
    longest = recall.remembered(tried)
    return Searched(name, seed, recall.count(best), best.encoder.width, tried, longest, before, after)
