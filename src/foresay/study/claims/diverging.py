"""Networks trained with plain gradient descent until they can no more: when gradients explode, and what clipping does.

A run has diverged when its loss or its weights are no numbers. Nothing is skipped, so that clipping alone can save it.
The task is that of study/recall.py; the network Elman's with ReLU and recurrent weights of a spectral radius above 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from foresay.encode.initial import Initial
from foresay.study import recall
from foresay.study.claims.claim import Figure
from foresay.train.clip import Clip

WIDTH, LAG, ROWS = 32, 30, 16
RELU: recall.Kind = {"kind": "elman", "activation": "relu"}
NORMAL = 1.96  # standard deviations of 95 %


@dataclass(frozen=True)
class Descent:
    """Of one seed: at which update it was no number any more (None: never), and the loss before every update."""

    seed: int
    diverged: int | None
    losses: list[float]


def explosive(seed: int, radius: float) -> recall.Recaller:
    """A network whose gradient grows on its way back."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return recall.Recaller(RELU, WIDTH, Initial(radius=radius))


def descend(model: recall.Recaller, seed: int, updates: int, rate: float, clip: Clip | None) -> Descent:
    """w <- w - rate g, with g clipped or as it is."""
    chance, losses = torch.Generator().manual_seed(seed), list[float]()
    for update in range(updates):
        x, answers = recall.draw(ROWS, LAG, chance)
        model.zero_grad()
        loss = F.cross_entropy(model(x), answers)
        loss.backward()
        losses.append(float(loss.detach()))
        if clip is not None:
            clip.apply(model, update)
        with torch.no_grad():
            for one in model.parameters():
                assert one.grad is not None
                one -= rate * one.grad
        if not math.isfinite(losses[-1]) or not all(bool(one.isfinite().all()) for one in model.parameters()):
            return Descent(seed, update, losses)
    return Descent(seed, None, losses)


def share_of(name: str, hits: int, of: int) -> Figure:
    """A share in % and Wilson's 95 % interval of it."""
    share, square = hits / of, NORMAL**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    spread = NORMAL * math.sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    return Figure(name, 100 * share, max(100 * (middle - spread), 0.0), min(100 * (middle + spread), 100.0), "%")
