"""Chains over pi(X)^(1/T): Metropolis, Gibbs, and one that looks at all neighbours before it goes; annealed.

    metropolis   propose a change, accept it with min(1, pi(Y)^(1/T) q(X|Y) / pi(X)^(1/T) q(Y|X))
    gibbs        a place at random, a unit for it from its conditional, exact over the choices of that place; where the
                 noise leaves out, puts in or exchanges, a coin is tossed before each step for one of Metropolis'
    informed     q(Y|X) in proportion to sqrt(pi(Y)^(1/T)) over all neighbours of X (Zanella 2017), accepted as above

At T = 1 each leaves pi as it is. As T falls to 0 the informed chain climbs to the best neighbour, and stays when there
is none: all neighbours are scored in one batch, so a sentence with two mistakes needs three batches.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from foresay.decode.correct.moves import Moves, drawn
from foresay.decode.correct.posterior import Posterior, Units
from foresay.errors import UserError
from foresay.parts import Count, Size, fits

Step = Callable[[Units, float, random.Random], Units]
KINDS = ("informed", "gibbs", "metropolis")
CHANCE = 20  # the others meet the right place and unit by chance: so many times the patience


@dataclass(frozen=True)
class Annealing:
    """`chain` climbs from what was observed at T = 0 until `patience` sweeps in a row have found nothing better; then,
    `restarts` times, it is shaken for `sweeps` sweeps while T falls from `hot` to `cold` in equal ratios, and climbs.

    A sweep is one step of the informed chain, and a step for each unit of the others; they have 20 times the patience.
    """

    chain: str = "informed"
    sweeps: int = 4
    hot: float = 1.0
    cold: float = 0.2
    restarts: int = 1
    patience: int = 1

    def __post_init__(self) -> None:
        if self.chain not in KINDS:
            raise UserError(f"chain={self.chain!r}; allowed: {', '.join(KINDS)}")
        for name, kind in {"sweeps": Size, "restarts": Count, "patience": Size}.items():
            fits(kind, getattr(self, name), name)
        hot, cold = fits(float, self.hot, "hot"), fits(float, self.cold, "cold")
        if not 0 < cold <= hot:
            raise UserError(f"hot={hot}, cold={cold}; allowed: temperatures above 0, cold at most hot")


def step_of(posterior: Posterior, chain: str, moves: Moves | None = None) -> Step:
    """One step of a chain by its name."""
    if chain == "metropolis":
        proposals = moves or Moves(posterior)
        return lambda x, t, draw: metropolis(posterior, proposals, x, t, draw)
    if chain == "informed":
        return lambda x, t, draw: informed(posterior, x, t, draw)
    others = Moves(posterior)
    others.kinds.remove("substitution")

    def either(x: Units, t: float, draw: random.Random) -> Units:
        if others.kinds and draw.random() < 0.5:
            return metropolis(posterior, others, x, t, draw)
        return gibbs(posterior, x, t, draw)

    return either


def metropolis(posterior: Posterior, moves: Moves, x: Units, temperature: float, draw: random.Random) -> Units:
    proposal = moves.propose(x, draw)
    if proposal is None or proposal.y == x:
        return x
    here, there = posterior.log(x), posterior.near(x, proposal.y)
    if temperature == 0:
        return proposal.y if there > here else x
    ratio = (there - here) / temperature + proposal.back - proposal.forth
    return proposal.y if _accepted(ratio, draw) else x


def gibbs(posterior: Posterior, x: Units, temperature: float, draw: random.Random) -> Units:
    i = draw.randrange(len(x))
    choices = posterior.choices(x, i)
    if x[i] not in choices:  # from none of them would the way lead back
        return x
    variants = [(*x[:i], unit, *x[i + 1 :]) for unit in choices]
    logs = posterior.logs(x, variants)
    if temperature == 0:
        best = int(np.argmax(logs))
        return variants[best] if logs[best] > posterior.log(x) else x
    return variants[drawn(logs / temperature, draw)]


def informed(posterior: Posterior, x: Units, temperature: float, draw: random.Random) -> Units:
    around, logs = posterior.around(x)
    if not around or logs.max() == -math.inf:
        return x
    if temperature == 0:
        best = int(np.argmax(logs))
        return around[best] if logs[best] > posterior.log(x) else x
    y = around[drawn(logs / (2 * temperature), draw)]
    back, back_logs = posterior.around(y)
    if x not in back:
        return x
    here, there = posterior.log(x) / temperature, posterior.log(y) / temperature
    forth = there / 2 - _log_sum(logs / (2 * temperature))
    ratio = there - here + here / 2 - _log_sum(back_logs / (2 * temperature)) - forth
    return y if _accepted(ratio, draw) else x


def _log_sum(logs: np.ndarray) -> float:
    return float(np.logaddexp.reduce(logs))


def _accepted(log_ratio: float, draw: random.Random) -> bool:
    return log_ratio >= 0 or draw.random() < math.exp(log_ratio)


def anneal(posterior: Posterior, annealing: Annealing, seed: int = 1) -> Units:
    """The best sequence that the chains have come to; what was observed, where nothing is better."""
    start = best = posterior.observed
    sweep = _sweep_of(posterior, annealing.chain)
    patience = annealing.patience * (1 if annealing.chain == "informed" else CHANCE)
    for restart in range(1 + annealing.restarts):
        draw, x = random.Random(f"{seed} {restart}"), start  # Python hashes the text: no two pairs meet
        # the first goes straight up; the others are shaken first
        for temperature in _falling(annealing) if restart else ():
            x = sweep(x, temperature, draw)
        found = _climb(posterior, sweep, x, draw, patience)
        best = found if posterior.log(found) > posterior.log(best) else best
    return best


def _falling(annealing: Annealing) -> list[float]:
    ratio = (annealing.cold / annealing.hot) ** (1 / max(annealing.sweeps - 1, 1))
    return [annealing.hot * ratio**n for n in range(annealing.sweeps)]


def _sweep_of(posterior: Posterior, chain: str) -> Step:
    step = step_of(posterior, chain)
    if chain == "informed":
        return step

    def sweep(x: Units, temperature: float, draw: random.Random) -> Units:
        for _ in range(len(x)):
            x = step(x, temperature, draw)
        return x

    return sweep


def _climb(posterior: Posterior, sweep: Step, x: Units, draw: random.Random, patience: int) -> Units:
    best, idle = x, 0
    while idle < patience:
        x = sweep(x, 0.0, draw)
        better = posterior.log(x) > posterior.log(best)
        best, idle = (x, 0) if better else (best, idle + 1)
    return best
