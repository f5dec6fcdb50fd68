"""Memory length by recall: a marked symbol is shown, others of the same alphabet follow, then the first is asked for.

    step         0           1 ... lag - 1         lag
    input    symbol, mark       symbols        symbol, cue
    asked                                      the marked one

A network remembers `lag` when, trained on that lag alone, it answers at least 95 % of fresh sequences rightly. Nothing
shorter leads the way, so what it learns of the symbol comes through the gradient over `lag` steps. Training ends at
98 %, when the updates are spent, or half-way where the answers are no better than twice chance. The longest lag is
found by doubling from 4 until it fails, then once between: neighbours differ by a factor of sqrt 2.

    half-life of the gradient = ln 2 / slope of -log ||dJ/dh_{t-d}|| over d        by least squares

x (B, lag + 1, K + 2): K symbols one-hot, the mark, the cue.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.encode.encoder import State
from foresay.encode.initial import Initial
from foresay.encode.recurrent import Recurrent
from foresay.parts import make
from foresay.train.clip import ByNorm
from foresay.train.optimise import Adam

SYMBOLS = 8  # K: chance is 12.5 %
WIDTH = SYMBOLS + 2
ENOUGH = 0.95
SURE = 0.98  # ends a training early: so far above enough that other sequences will not say otherwise
Kind = str | dict[str, Any]  # a cell as a recipe writes it


@dataclass(frozen=True)
class Size:
    """How large an experiment is."""

    parameters: int  # of every network, as nearly as its width allows
    longest: int  # lag that is tried
    updates: int  # for each lag at most
    rows: int = 64  # of a batch
    rate: float = 3e-3
    check: int = 25  # updates between looks whether the lag is recalled, which ends the training
    tested: int = 512  # fresh sequences


class Recaller(nn.Module):
    """A recurrent layer and a linear map to the symbols."""

    def __init__(self, cell: Kind, size: int, initial: Initial = Initial()) -> None:  # noqa: B008 - frozen
        super().__init__()
        self.encoder = Recurrent(cell=make("cell", cell), size=size, initial=initial)
        self.encoder.build(WIDTH)
        self.answer = nn.Linear(size, SYMBOLS)

    def forward(self, x: Tensor) -> Tensor:
        return self.answer(self.encoder(x)[0][:, -1])


def build(cell: Kind, parameters: int, seed: int, initial: Initial = Initial()) -> Recaller:  # noqa: B008 - frozen
    """A network with that many parameters, as nearly as a whole number of units allows."""
    with torch.random.fork_rng(devices=[]):
        size = fitting_width(cell, parameters)
        torch.manual_seed(seed)
        return Recaller(cell, size, initial)


def fitting_width(cell: Kind, parameters: int) -> int:
    """The width of a network whose number of parameters is nearest."""
    return nearest_width(lambda width: Recaller(cell, width), parameters)


def nearest_width(build: Callable[[int], nn.Module], parameters: int) -> int:
    """The width whose number of parameters is nearest: it grows with the width, so the search halves."""
    low, high = 1, 2
    while count(build(high)) < parameters:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if count(build(middle)) >= parameters else (middle, high)
    return min((low, high), key=lambda width: abs(count(build(width)) - parameters))


def count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def draw(rows: int, lag: int, chance: torch.Generator) -> tuple[Tensor, Tensor]:
    """Sequences (B, lag + 1, K + 2) and their answers (B,)."""
    ids = torch.randint(SYMBOLS, (rows, lag + 1), generator=chance)
    x = torch.zeros(rows, lag + 1, WIDTH)
    x[:, :, :SYMBOLS] = F.one_hot(ids, SYMBOLS)
    x[:, 0, SYMBOLS], x[:, -1, SYMBOLS + 1] = 1, 1
    return x, ids[:, 0]


def train(model: Recaller, lags: Sequence[int], size: Size, chance: torch.Generator) -> int:
    """Trains on these lags, one drawn for each batch, until the last is recalled or there is no hope; the updates."""
    optimizer, clip = Adam(lr=size.rate).open(model), ByNorm(limit=1.0)
    for update in range(size.updates):
        lag = lags[int(torch.randint(len(lags), (), generator=chance))]
        x, answers = draw(size.rows, lag, chance)
        optimizer.zero_grad()
        F.cross_entropy(model(x), answers).backward()
        clip.apply(model, update)
        optimizer.step()
        if (update + 1) % size.check == 0:
            share = accuracy(model, lags[-1], size.rows, chance)
            if share >= SURE and accuracy(model, lags[-1], size.tested, chance) >= SURE:
                return update + 1
        if 2 * (update + 1) == size.updates and accuracy(model, lags[-1], size.tested, chance) < 2 / SYMBOLS:
            return update + 1
    return size.updates


@torch.no_grad()
def accuracy(model: Recaller, lag: int, rows: int, chance: torch.Generator) -> float:
    """The share of fresh sequences answered rightly."""
    x, answers = draw(rows, lag, chance)
    return (model(x).argmax(1) == answers).float().mean().item()


@dataclass(frozen=True)
class Tried:
    """A lag one network was trained on: updates taken, and the accuracy on fresh sequences."""

    lag: int
    updates: int
    accuracy: float

    @property
    def recalled(self) -> bool:
        return self.accuracy >= ENOUGH


def try_lag(
    cell: Kind,
    lag: int,
    size: Size,
    seed: int,
    initial: Initial = Initial(),  # noqa: B008 - frozen
) -> tuple[Tried, Recaller]:
    """A new network, the same for all lags, trained on one of them."""
    model = build(cell, size.parameters, seed, initial)
    updates = train(model, [lag], size, torch.Generator().manual_seed(1000 * seed + lag))
    fresh = torch.Generator().manual_seed(-1000 * seed - lag)
    return Tried(lag, updates, accuracy(model, lag, size.tested, fresh)), model


def next_lag(tried: Sequence[Tried], longest: int) -> int | None:
    """The lag to try next: twice the longest recalled, then once between it and the shortest that was not."""
    good = max((one.lag for one in tried if one.recalled), default=0)
    bad = min((one.lag for one in tried if not one.recalled), default=None)
    if bad is None:
        return min(max(2 * good, 4), longest) if good < longest else None
    if good == 0:
        return bad // 2 or None
    between = round(math.sqrt(good * bad))
    return between if good < between < bad and bad / good > 1.9 else None


def remembered(tried: Sequence[Tried]) -> int:
    """The longest lag recalled; 0 where none was."""
    return max((one.lag for one in tried if one.recalled), default=0)


def gradient_norms(model: Recaller, longest: int, rows: int, chance: torch.Generator) -> list[float]:
    """||dJ/dh_{t-d}|| for d = 0 ... longest, the root of its mean square over sequences; in double precision.

    The sequences are a quarter longer, so that the mark at their first step is not part of it.
    """
    x, answers = draw(rows, longest + longest // 4, chance)
    model = model.double()
    state: State = model.encoder.begin(rows)
    states: list[Tensor] = []
    for step in x.double().split(1, 1):  # step by step, so that each h can be differentiated by
        state = model.encoder(step, state=state)[1]
        states.append(state["0"]["h"])
    loss = F.cross_entropy(model.answer(states[-1]), answers, reduction="sum")
    found = torch.autograd.grad(loss, states)
    model.float()
    return [gradient.square().sum(1).mean().sqrt().item() for gradient in found[: -longest - 2 : -1]]


def decay(norms: Sequence[float]) -> float:
    """The slope of -log norm over the distance d, by least squares: ln 2 divided by it is the half-life."""
    points = [(d, -math.log(norm)) for d, norm in enumerate(norms) if norm > 0]
    middle = sum(d for d, _ in points) / len(points)
    mean = sum(log for _, log in points) / len(points)
    return sum((d - middle) * (log - mean) for d, log in points) / sum((d - middle) ** 2 for d, _ in points)
