"""Drawing how series go on: each path by random numbers of its own, of the seed, its number and the step alone.

Knows only the protocol of a model of series: `step`, `reorder` and `draw`. Beside others a path may differ in its last
digits from what it is alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from foresay.decode.chance import keys, uniform

AT_ONCE = 4096  # paths drawn together


def paths(
    model: Any,
    state: Any,
    steps: int,
    number: int,
    seed: int,
    temperature: float = 1.0,
    first: int = 0,
    tell: Callable[[float], None] = lambda done: None,
) -> Tensor:
    """`number` paths for each row of a state, (B, number, steps, D) of float32; `first` is the number of the first.

    `tell` is called with the share that is done.
    """
    rows = len(state["features"])
    at_once = max(AT_ONCE // rows, 1)
    found: list[Tensor] = []
    for done in range(0, number, at_once):
        each = min(at_once, number - done)
        keyed = _keyed(model, state, each, rows, seed, first + done * rows)
        values = []
        for value in _drawn(model, *keyed, steps, temperature):
            values.append(value)
            tell((done + each * len(values) / steps) / number)
        found.append(torch.stack(values, 1).unflatten(0, (rows, each)).cpu())
    return torch.cat(found, 1)


def _keyed(model: Any, state: Any, each: int, rows: int, seed: int, first: int) -> tuple[Tensor, Any]:
    """The keys of `each` paths for every row, and their states."""
    which = torch.arange(rows, device=model.device).repeat_interleave(each)
    numbers = torch.arange(each, device=model.device).repeat(rows) * rows + which + first
    return keys(seed, numbers), model.reorder(state, which)


def _drawn(model: Any, own: Tensor, state: Any, steps: int, temperature: float) -> Iterator[Tensor]:
    """The values (N, D) of every step."""
    for step in range(steps):
        u = uniform(own, step, model.output.width + 1)
        value = model.draw(state, u, temperature).float()
        yield value
        if step + 1 < steps:
            _, state = model.step(value[:, None], state)
