"""How error passes back through time: the norm of dL_t / ds_{t-d} over d, for every state s of every layer.

    norm(d) = root of the mean over rows of ||dL_t / ds_{t-d}||^2         rows: places t where the loss is asked

s is what is carried from step t - d to the next: `0.h` and `0.c` are h and c of the lowest layer, each by itself with
the others as they were. At d = 0 nothing is carried any more, and only the states that the loss reads count. `x` is
what the encoder reads: what the input of step t - d itself still says.

    half-life = ln 2 / slope of -log norm(d)       by least squares; without limit where it does not fall

The states are stepped one by one through the run's own cells, in double precision. x (B, T, D); states (B, H).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from foresay.encode.recurrent import Recurrent
from foresay.errors import UserError

Norms = dict[str, list[float]]


@dataclass(frozen=True)
class Fall:
    """A straight line through log norm(d): its slope, how much of the variance it leaves unsaid, the half-life."""

    slope: float
    r_squared: float

    @property
    def half_life(self) -> float:
        return math.log(2) / -self.slope if self.slope < 0 else math.inf


def profile(encoder: Recurrent, x: Tensor, loss: Callable[[Tensor], Tensor], longest: int | None = None) -> Norms:
    """Norms by the state's name for d = 0 ... longest; `loss` takes the last step's features (B, H) and sums rows."""
    if encoder.bidirectional:
        raise UserError("encoder reads both ways, where every state sees every step; allowed: bidirectional=false")
    exact = copy.deepcopy(encoder).double().eval()
    with torch.enable_grad():
        inputs = [step.requires_grad_() for step in x.detach().double().split(1, 1)]
        states, last = step_through(exact, inputs)
        found = torch.autograd.grad(
            loss(last), [*inputs, *(one for step in states for one in step.values())], allow_unused=True
        )
    names = list(states[0])
    grads = [torch.zeros(()) if one is None else one for one in found]
    rows, most = len(x), x.shape[1] - 1 if longest is None else longest
    series = {"x": grads[: len(inputs)]}
    series |= {name: grads[len(inputs) + at :: len(names)] for at, name in enumerate(names)}
    return {name: [norm_of(one, rows) for one in own[: -most - 2 : -1]] for name, own in series.items()}


def norm_of(gradient: Tensor, rows: int) -> float:
    """The root of the mean square over rows."""
    return float(gradient.square().sum().div(rows).sqrt())


def step_through(encoder: Recurrent, inputs: Sequence[Tensor]) -> tuple[list[dict[str, Tensor]], Tensor]:
    """Every state after every step, by name, each read by what comes after it; and the features of the last step."""
    carried = encoder.begin(len(inputs[0]))
    memories = [{k: v.double() for k, v in carried[str(n)].items()} for n in range(len(encoder.forwards))]
    steps, features = [], inputs[0][:, 0]
    for x in inputs:
        seen, named = [x], {}
        for layer, cell in enumerate(encoder.forwards):
            below = encoder.wiring.enter(seen)
            memories[layer] = cell.run(below, memories[layer])[1]
            seen.append(encoder.wiring.leave(layer, below, memories[layer]["h"][:, None], None))
            named |= {f"{layer}.{name}": memories[layer][name] for name in cell.states}
        steps.append(named)
        features = seen[-1][:, 0]
    return steps, features


def fall(norms: Sequence[float]) -> Fall:
    """The line through log norm(d), of what is not 0."""
    return line_through([(float(d), math.log(norm)) for d, norm in enumerate(norms) if norm > 0])


def line_through(points: Sequence[tuple[float, float]]) -> Fall:
    """The line by least squares through (x, log norm)."""
    if len(points) < 2:
        return Fall(-math.inf, 1.0)
    xs, logs = zip(*points, strict=True)
    middle, mean = sum(xs) / len(xs), sum(logs) / len(logs)
    slope = sum((x - middle) * (log - mean) for x, log in points) / sum((x - middle) ** 2 for x in xs)
    whole = sum((log - mean) ** 2 for log in logs)
    left = sum((log - mean - slope * (x - middle)) ** 2 for x, log in points)
    return Fall(slope, 1 - left / whole if whole > 0 else 1.0)
