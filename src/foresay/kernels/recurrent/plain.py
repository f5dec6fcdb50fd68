"""The plain twin of every fused recurrence: one loop over time in torch, differentiable as often as wanted.

fed (T, B, columns), states (B, width) -> every wanted key for all steps (T, B, width), and the states after.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from foresay.kernels.recurrent.maths import Maths, delay, state_of


@dataclass(frozen=True)
class Inputs:
    """What a recurrence reads: all tensors, by key where there are several."""

    fed: Tensor  # (T, B, columns of the fed gates): the inputs' share, biases in it
    products: Mapping[str, Tensor]  # source key -> U (columns of its gates, width of the source)
    states: Mapping[str, Tensor]  # state name -> (B, width), or (B, steps back, width) where a source reaches back
    vectors: Mapping[str, Tensor]  # key -> (width,) or (B, width)
    steps: Mapping[str, Tensor]  # noise:... and x:x -> (T, B, width)
    mask: Tensor | None = None  # (T, B), True = real
    training: bool = False  # what the step sees of it: its code may differ


def run_plain(maths: Maths, inputs: Inputs, wanted: tuple[str, ...]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The wanted keys for every step (new states at padding as they were), and the states after the last one."""
    past = {name: list(reaching_back(state).unbind(1)) for name, state in inputs.states.items()}
    kept: dict[str, list[Tensor]] = {key: [] for key in wanted}
    for t, fed in enumerate(inputs.fed.unbind(0)):
        values = step(maths, inputs, t, fed, past)
        for name in maths.states:
            if inputs.mask is not None:
                values[f"new:{name}"] = torch.where(inputs.mask[t, :, None], values[f"new:{name}"], past[name][-1])
            past[name].append(values[f"new:{name}"])
        for key in wanted:
            kept[key].append(values[key])
    after = {name: last_states(torch.stack(past[name], 1), state, inputs.mask) for name, state in inputs.states.items()}
    return {key: torch.stack(steps) for key, steps in kept.items()}, after


def step(maths: Maths, inputs: Inputs, t: int, fed: Tensor, past: Mapping[str, list[Tensor]]) -> dict[str, Tensor]:
    """All keys of one step: fed (B, columns), `past` every state so far, the newest last."""
    values = {f"state:{name}": states[-1] for name, states in past.items()}
    values |= dict(inputs.vectors) | {key: steps[t] for key, steps in inputs.steps.items()}
    widths = [maths.widths[f"gate:{gate}"] for gate in maths.fed]
    gates: dict[str, Tensor] = dict(zip(maths.fed, fed.split(widths, 1), strict=True))
    sources = maths.sources
    for number, stage in enumerate(maths.stages):
        for source in [key for key, ready in maths.ready.items() if ready == number]:
            before = past[state_of(source)][-delay(source)] if delay(source) else values[source]
            seen = sources[source]
            product = F.linear(before, inputs.products[source])
            for gate, share in zip(seen, product.split([maths.widths[f"gate:{g}"] for g in seen], 1), strict=True):
                gates[gate] = gates[gate] + share if gate in gates else share
        values |= {f"gate:{gate}": gates[gate] for gate in stage.gates}
        given = stage.run(*(values[key] for key in stage.reads))
        values |= {key: given[key.split(":")[1]] for key in stage.gives}
    return values


def reaching_back(state: Tensor) -> Tensor:
    """(B, width) or (B, steps, width) -> (B, steps, width)."""
    return state[:, None] if state.dim() == 2 else state


def last_states(history: Tensor, like: Tensor, mask: Tensor | None) -> Tensor:
    """From the states before and after every step (B, steps + T, width): those after each row's last real step."""
    if like.dim() == 2:  # padding has left the last one as it was
        return history[:, -1]
    steps = like.shape[1]
    if mask is None:
        return history[:, -steps:]
    last = mask.sum(0)[:, None] + torch.arange(steps, device=history.device)
    return history.gather(1, last[:, :, None].expand(-1, -1, history.shape[2]))
