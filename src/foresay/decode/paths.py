"""Drawing how series go on: each path by random numbers of its own, of the seed, its number and the step alone.

Knows only the protocol of a model of series: `step`, `reorder` and `draw`. Beside others a path may differ in its last
digits from what it is alone.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from foresay.decode.chance import keys, uniform

AT_ONCE = 4096  # paths drawn together


def paths(
    model: Any, state: Any, steps: int, number: int, seed: int, temperature: float = 1.0, first: int = 0
) -> Tensor:
    """`number` paths for each row of a state, (B, number, steps, D) of float32; `first` is the number of the first."""
    rows = len(state["features"])
    at_once = max(AT_ONCE // rows, 1)
    found = [
        _drawn(model, state, steps, min(at_once, number - done), rows, seed, temperature, first + done * rows)
        for done in range(0, number, at_once)
    ]
    return torch.cat(found, 1)


def _drawn(
    model: Any, state: Any, steps: int, each: int, rows: int, seed: int, temperature: float, first: int
) -> Tensor:
    which = torch.arange(rows, device=model.device).repeat_interleave(each)
    numbers = torch.arange(each, device=model.device).repeat(rows) * rows + which + first
    own, state = keys(seed, numbers), model.reorder(state, which)
    found = []
    for step in range(steps):
        u = uniform(own, step, model.output.width + 1)
        found.append(model.draw(state, u, temperature).float())
        if step + 1 < steps:
            _, state = model.step(found[-1][:, None], state)
    return torch.stack(found, 1).unflatten(0, (rows, each)).cpu()
