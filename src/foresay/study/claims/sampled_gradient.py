"""Claim: the gradient of the softmax from S drawn words has no bias and a variance of 1/S: docs/claims.md.

g is the exact gradient of the loss with respect to features, rows and biases, as one vector; g_1 .. g_R are estimates.

    variance(S) = sum over entries of the variance of g_r
    bias^2      = (mean of half of them - g) . (mean of the others - g)

The second is |bias|^2 on average: the noise of the two halves is independent, so what it adds is 0 on average.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from foresay.output.monte_carlo import MonteCarlo
from foresay.output.rows import Rows
from foresay.output.softmax import Softmax
from foresay.study.claims.claim import Figure, Result, Verdict, claim
from foresay.study.claims.words_learning import average_of
from foresay.study.claims.words_picture import Panel, draw
from foresay.train.progress import Tell

SEEDS = 5
NEAR = 0.05
POSITIONS, WIDTH = 32, 16


@dataclass(frozen=True)
class Size:
    """A vocabulary by Zipf's law; how many words are drawn; how often a gradient is estimated with each number."""

    words: int
    numbers: tuple[int, ...]
    repeats: int


QUICK, FULL = Size(500, (1, 2, 4, 8, 16, 32, 64), 200), Size(5000, (1, 2, 4, 8, 16, 32, 64, 128, 256), 500)


@dataclass(frozen=True)
class Estimated:
    """Of the gradients from `number` drawn words, each over |g|^2."""

    seed: int
    number: int
    variance: float
    bias: float  # squared; below 0 by chance only


@claim(
    "sampled-gradient",
    lecture="004",
    sentence="The gradient of the softmax may be estimated from S drawn words: no bias, and a variance of 1/S.",
    rule=(
        f"holds when the 95 % interval over seeds of the slope of log variance on log S lies within -1 ± {NEAR:g} and "
        "that of the squared bias, the mean over all S, holds 0; does not hold when the first lies outside of it, or "
        f"the second above 0, in the full form only; else not decided. {SEEDS} seeds"
    ),
)
def run(quick: bool, seed: int, tell: Tell) -> Result:
    size, found = QUICK if quick else FULL, []
    for done in range(SEEDS):
        found += estimate(size, SEEDS * seed + done)
        tell((done + 1) / SEEDS)
    slope, bias = slope_of(found), bias_of(found)
    details = {"estimates": [asdict(one) for one in found]}
    return Result(judge(slope, bias, quick), [slope, bias, *figures(found)], details, picture(found))


def estimate(size: Size, seed: int) -> list[Estimated]:
    """One softmax layer and one batch by a seed, its gradient estimated with every number of words."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        h, shares = torch.randn(POSITIONS, WIDTH, dtype=torch.float64), zipf(size.words)
        targets = torch.multinomial(torch.from_numpy(shares), POSITIONS, replacement=True)
        exact = layer(Softmax(begin="shares"), shares)
        g = gradient(exact, h, targets)
        found = []
        for number in size.numbers:
            drawn = layer(MonteCarlo(number, begin="shares"), shares)
            drawn.load_state_dict(exact.state_dict())
            every = torch.stack([gradient(drawn, h, targets) for _ in range(size.repeats)])
            found.append(Estimated(seed, number, *measured(every, g)))
    return found


def zipf(words: int) -> np.ndarray:
    """P(r) in proportion to 1 / r."""
    weights = 1 / np.arange(1, words + 1)
    return weights / weights.sum()


def layer(output: Rows, shares: np.ndarray) -> Rows:
    """Built over the words, its biases at their shares."""
    output.build(WIDTH, len(shares))
    output.learn_counts(1e9 * shares)
    return output.double()


def gradient(output: Rows, h: Tensor, targets: Tensor) -> Tensor:
    """Of the loss: by features, rows and biases, as one vector."""
    h = h.detach().requires_grad_()
    found = torch.autograd.grad(output.loss(h, targets), [h, *output.parameters()])
    return torch.cat([one.flatten() for one in found])


def measured(every: Tensor, g: Tensor) -> tuple[float, float]:
    """Variance and squared bias of estimates (R, size) of g (size), each over |g|^2."""
    first, second = every[::2].mean(0) - g, every[1::2].mean(0) - g
    norm = g @ g
    return float(every.var(0).sum() / norm), float(first @ second / norm)


def slope_of(found: Sequence[Estimated]) -> Figure:
    """Of log variance on log S, over seeds."""
    slopes = []
    for seed in sorted({one.seed for one in found}):
        own = [one for one in found if one.seed == seed]
        across, up = [math.log(one.number) for one in own], [math.log(one.variance) for one in own]
        slopes.append(statistics.linear_regression(across, up).slope)
    return average_of("slope of log variance on log S", slopes)


def bias_of(found: Sequence[Estimated]) -> Figure:
    """The mean over all S of the squared bias, over seeds."""
    seeds = sorted({one.seed for one in found})
    means = [statistics.fmean(one.bias for one in found if one.seed == seed) for seed in seeds]
    return average_of("squared bias over |g|², mean over all S", means)


def judge(slope: Figure, bias: Figure, quick: bool) -> Verdict:
    """The rule."""
    assert slope.low is not None and slope.high is not None and bias.low is not None and bias.high is not None
    if slope.low >= -1 - NEAR and slope.high <= -1 + NEAR and bias.low <= 0 <= bias.high:
        return "holds"
    refuted = slope.high < -1 - NEAR or slope.low > -1 + NEAR or bias.low > 0
    return "does not hold" if refuted and not quick else "not decided at this size"


def figures(found: Sequence[Estimated]) -> list[Figure]:
    """The variance with the fewest and the most words."""
    numbers = sorted({one.number for one in found})
    return [
        average_of(f"variance over |g|², S = {number}", [one.variance for one in found if one.number == number])
        for number in (numbers[0], numbers[-1])
    ]


def picture(found: Sequence[Estimated]) -> Any:
    """Both against S."""
    numbers = sorted({one.number for one in found})
    ticks = {number: str(number) for number in numbers}
    own = {number: [one for one in found if one.number == number] for number in numbers}
    variance = {number: [one.variance for one in own[number]] for number in numbers}
    first = statistics.fmean(variance[numbers[0]])
    lines = {"measured": variance, "1/S": {number: [first / number] for number in numbers}}
    bias = {"bias": {number: [one.bias for one in own[number]] for number in numbers}}
    across = "words drawn, S"
    return draw([
        Panel("Variance by S", across, "variance over |g|²", lines, doubling=True, ticks=ticks, powers=True),
        Panel("Bias by S", across, "squared bias over |g|²", bias, {"0": 0.0}, doubling=True, ticks=ticks),
    ])  # fmt: skip
