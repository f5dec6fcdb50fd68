"""Baum and Welch's passes (1970): from what is expected of the hidden states to better parameters, while it pays.

    pi = share of (began + alpha),   A[i, .] = share of (moved[i, .] + alpha)          alpha: `smoothing`
    goal = log P(o) + alpha sum log pi + alpha sum log A + what the emissions add

No pass lowers the goal (Dempster, Laird and Rubin 1977); with alpha = 0 it is the likelihood itself. Learning ends
after `passes`, or after one that raised it by less than `tolerance` nats a step. Of several starts, each from random
numbers of its own, the one with the highest goal is kept.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from foresay.kernels.markov import Counts, expected

Tell = Callable[[float], None]


class Pass(NamedTuple):
    """-log P a step, in nats, before the parameters of this pass were made; the seconds since learning began."""

    loss: float
    seconds: float


class Emissions(Protocol):
    """What states emit: a table for `expected`, and how it is learnt from what is expected."""

    own: bool  # each step has a row of the table alone

    def table(self) -> tuple[np.ndarray, float]:
        """b (M, K), up to factors of its rows, and the logarithm of these over all steps."""
        ...

    def prior(self) -> float:
        """What the emissions add to the goal."""
        ...

    def learn(self, emitted: np.ndarray) -> None: ...


@dataclass(frozen=True)
class Rows:
    """Texts or series, one behind the other."""

    ids: np.ndarray  # (N,) rows of the table
    edges: np.ndarray  # (rows + 1,)


@dataclass
class Chain:
    """pi (K), A (K, K), and what the states emit."""

    first: np.ndarray
    moves: np.ndarray
    emissions: Emissions
    goals: list[float] = field(default_factory=list)  # of every pass
    usual: np.ndarray | None = None  # how often each state is expected, as a share of all steps
    ended: bool = False  # by the tolerance


@dataclass(frozen=True)
class How:
    """When learning ends, and what is added to every count."""

    passes: int
    tolerance: float
    smoothing: float


def shares(counts: np.ndarray, smoothing: float) -> np.ndarray:
    """Counts as shares of their row; those of a row without a count are all alike."""
    more = counts + smoothing
    whole = more.sum(-1, keepdims=True)
    return np.where(whole > 0, more / np.where(whole > 0, whole, 1.0), 1.0 / counts.shape[-1])


def log_prior(probabilities: np.ndarray, smoothing: float) -> float:
    """alpha sum log p."""
    return smoothing * float(np.log(probabilities).sum()) if smoothing else 0.0


def random_chain(states: int, emissions: Emissions, chance: np.random.Generator) -> Chain:
    """pi and A drawn evenly among all that sum to 1."""
    rows = chance.dirichlet(np.ones(states), states + 1)
    return Chain(rows[0], rows[1:], emissions)


def learn(chain: Chain, rows: Rows, how: How, tell: Tell) -> list[Pass]:
    """Passes over all rows, in place."""
    began, steps, found = time.perf_counter(), len(rows.ids), []
    for number in range(how.passes):
        table, scale = chain.emissions.table()
        counts = expected(table, rows.ids, rows.edges, chain.moves, chain.first, own=chain.emissions.own)
        log_prob = counts.log_prob + scale
        prior = log_prior(chain.first, how.smoothing) + log_prior(chain.moves, how.smoothing)
        chain.goals.append(log_prob + prior + chain.emissions.prior())
        _renew(chain, counts, how.smoothing)
        found.append(Pass(-log_prob / steps, time.perf_counter() - began))
        tell((number + 1) / how.passes)
        if number and chain.goals[-1] - chain.goals[-2] < how.tolerance * steps:
            chain.ended = True
            break
    return found


def _renew(chain: Chain, counts: Counts, smoothing: float) -> None:
    chain.first, chain.moves = shares(counts.began, smoothing), shares(counts.moved, smoothing)
    chain.emissions.learn(counts.emitted)
    often = counts.emitted.sum(0)
    chain.usual = often / often.sum()


def best_of(
    starts: int, make: Callable[[np.random.Generator], Chain], rows: Rows, how: How, seed: int, tell: Tell
) -> tuple[Chain, list[Pass], list[str]]:
    """The best chain of several starts, its passes, and what a person should know."""
    found: list[tuple[Chain, list[Pass]]] = []
    for start in range(starts):
        chain = make(np.random.default_rng([seed, start]))
        found.append((chain, learn(chain, rows, how, lambda done, at=start: tell((at + done) / starts))))
    best = max(range(starts), key=lambda at: _goal(found[at][0]))
    chain, passes = found[best]
    notes = [f"passes: {len(passes)}; {_ending(chain, how)}"]
    if starts > 1:
        losses = ", ".join(f"{own[-1].loss:.4f}" for _, own in found)
        notes.append(f"{starts} starts ended at {losses} nats a step; number {best + 1} is kept")
    return chain, passes, notes


def _goal(chain: Chain) -> float:
    return chain.goals[-1] if not math.isnan(chain.goals[-1]) else -math.inf


def _ending(chain: Chain, how: How) -> str:
    if chain.ended:
        return f"the last raised the goal by less than {how.tolerance:g} nats a step"
    return "all that were allowed; more passes may still learn"
