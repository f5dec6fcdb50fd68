"""Hidden Markov chains over frames of numbers: every state emits a normal vector, each number of it by itself.

    b_k(x) = prod_d N(x_d; mu[k, d], v[k, d])                       a number that is not known (NaN) is left out
    states given:    pi, A, mu and v are the shares, means and variances of what is counted
    states hidden:   the same, each frame counted by P(s_t = k | x_1 .. x_T), again and again (baum_welch.py)

No variance falls below `floor` of the variance of all frames: without that one state could hold a single frame, and its
likelihood would have no limit (Bishop 2006, 9.2.1). The densities of a frame are brought to a highest of 1, and the
factor is added again to log p: what is far from every state does not underflow.

frames (T, D), states (T,) -> P (T, K).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from foresay.errors import UserError
from foresay.kernels.markov import both
from foresay.models.markov.baum_welch import shares
from foresay.output.crf import viterbi

FLOOR = 1e-3  # of the variance of all frames


@dataclass
class Normals:
    """mu (K, D), v (K, D), and the least that v may be (D,)."""

    means: np.ndarray
    variances: np.ndarray
    least: np.ndarray

    def log_densities(self, frames: np.ndarray) -> np.ndarray:
        """log b (T, K)."""
        x = frames[:, None, :].astype(np.float64)
        each = -0.5 * ((x - self.means) ** 2 / self.variances + np.log(2 * np.pi * self.variances))
        return np.where(np.isnan(x), 0.0, each).sum(-1)


def scaled(log_densities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """b (T, K) with a highest of 1 in each row, and the logarithms of the factors (T,)."""
    most = log_densities.max(1)
    return np.exp(log_densities - most[:, None]), most


def weighted(frames: np.ndarray, weights: np.ndarray, least: np.ndarray) -> Normals:
    """Means and variances of frames (T, D) of which each state counts so much, (T, K)."""
    known = ~np.isnan(frames)
    x = np.where(known, frames, 0.0).astype(np.float64)
    counts = weights.T @ known
    whole = np.where(counts > 0, counts, 1.0)
    means = weights.T @ x / whole
    squares = weights.T @ x**2 - 2 * means * (weights.T @ x) + means**2 * counts
    usual = np.nanmean(frames, 0), np.nanvar(frames, 0)  # of a state that has nothing
    means = np.where(counts > 0, means, usual[0])
    variances = np.where(counts > 0, squares / whole, usual[1])
    return Normals(means, np.maximum(variances, least), least)


class Frames:
    """What Baum and Welch learn of frames that lie one behind the other; each has a row of its own in the table."""

    own = True

    def __init__(self, frames: np.ndarray, normals: Normals):
        self.frames, self.normals = frames, normals

    def table(self) -> tuple[np.ndarray, float]:
        table, factors = scaled(self.normals.log_densities(self.frames))
        return table, float(factors.sum())

    def prior(self) -> float:
        return 0.0

    def learn(self, emitted: np.ndarray) -> None:
        self.normals = weighted(self.frames, emitted, self.normals.least)


@dataclass
class FrameChain:
    """pi (K), A (K, K) and normal emissions."""

    first: np.ndarray
    moves: np.ndarray
    normals: Normals

    def posteriors(self, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """P(s_t | x_1 .. x_t) and P(s_t | x_1 .. x_T) of a row of frames, each (T, K)."""
        table, _ = scaled(self.normals.log_densities(frames))
        return both(table, np.arange(len(table)), self.moves, self.first)

    def best(self, frames: np.ndarray) -> np.ndarray:
        """The states (T,) of the most probable path, by Viterbi."""
        scores = torch.from_numpy(self.normals.log_densities(frames))[None]
        with np.errstate(divide="ignore"):
            moves, first = (torch.from_numpy(np.log(one)) for one in (self.moves, self.first))
        return viterbi(scores, None, (moves, first, torch.zeros(len(first), dtype=torch.float64)))[0].numpy()


def by_counts(
    frames: Sequence[np.ndarray], states: Sequence[np.ndarray], number: int, smoothing: float = 0.1
) -> FrameChain:
    """From rows of frames (T, D) and their states (T,), 0 to `number` - 1."""
    for at, (own, given) in enumerate(zip(frames, states, strict=True), 1):
        if len(own) != len(given) or not len(own) or given.min() < 0 or given.max() >= number:
            raise UserError(
                f"row {at} has {len(own)} frames and {len(given)} states; allowed: one or more, a state from 0 to "
                f"{number - 1} for each"
            )
    moved, began = np.zeros((number, number)), np.zeros(number)
    for given in states:
        began[given[0]] += 1
        np.add.at(moved, (given[:-1], given[1:]), 1)
    every = np.concatenate(frames)
    weights = np.eye(number)[np.concatenate(states)]
    return FrameChain(
        shares(began, smoothing), shares(moved, smoothing), weighted(every, weights, FLOOR * np.nanvar(every, 0))
    )
