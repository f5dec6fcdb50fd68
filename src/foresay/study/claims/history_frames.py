"""What the readers of claim `history` are asked: made frames whose hidden states follow a law, and tags of UD EWT.

    two back     s_t = s_{t-1} + s_{t-2} + 1  mod K      with probability SURE, else any state
    one back     s_t = s_{t-1} + 1            mod K      likewise
    x_t = corner of s_t + NOISE e,   e standard normal, in the plane

Of the first law the last state alone says nothing: all four states follow it equally often. What can be known of either
is exact, by a hidden Markov chain over pairs of states (s_{t-1}, s_t), which is of first order again.
"""

from __future__ import annotations

import itertools

import numpy as np

from foresay.models.markov.frames import FrameChain, Normals

STATES, SURE, NOISE = 4, 0.9, 0.8
CORNERS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
TWO, ONE = "two back", "one back"
LAWS = {TWO: lambda before, last: (before + last + 1) % STATES, ONE: lambda before, last: (last + 1) % STATES}


def made(law: str, chance: np.random.Generator, rows: int, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Frames (B, T, 2) and their states (B, T); a state that is not shown stands before them."""
    states = chance.integers(0, STATES, (rows, steps + 1))
    sure = chance.random((rows, steps + 1)) < SURE
    for t in range(2, steps + 1):
        follows = LAWS[law](states[:, t - 2], states[:, t - 1])
        states[:, t] = np.where(sure[:, t], follows, states[:, t])
    states = states[:, 1:]
    frames = CORNERS[states] + NOISE * chance.normal(size=(rows, steps, 2))
    return frames.astype(np.float32), states


def knowing(law: str) -> FrameChain:
    """The law itself: a chain over pairs (before, last), number before * K + last."""
    pairs = list(itertools.product(range(STATES), repeat=2))
    moves = np.zeros((len(pairs), len(pairs)))
    for at, (before, last) in enumerate(pairs):
        for follows in range(STATES):
            share = (1 - SURE) / STATES + SURE * (follows == LAWS[law](before, last))
            moves[at, last * STATES + follows] = share
    means = CORNERS[[last for _, last in pairs]]
    normals = Normals(means, np.full(means.shape, NOISE**2), np.zeros(2))
    return FrameChain(np.full(len(pairs), 1 / len(pairs)), moves, normals)


def of_last(shares: np.ndarray) -> np.ndarray:
    """P of states (T, K) from that of pairs (T, K K)."""
    return shares.reshape(len(shares), STATES, STATES).sum(1)
