"""Picks the way a recurrence runs: fused where it pays, else the plain loop.

The choice depends on the maths, shapes, dtype, device and whether the step becomes a CUDA graph, never on time or
chance, so that a run gives the same bytes every time. `FORESAY_PLAIN=1` takes the plain loop everywhere; what is noted
for a file takes it rolled up (rolled.py).
"""

from __future__ import annotations

import torch
from torch import Tensor

from foresay.kernels.product import HALF, half_on_gpu
from foresay.kernels.recurrent.fuse import Fused, fuse
from foresay.kernels.recurrent.maths import Maths
from foresay.kernels.recurrent.plain import Inputs, last_states, reaching_back, run_plain
from foresay.kernels.recurrent.products import library
from foresay.kernels.recurrent.rolled import run_rolled
from foresay.kernels.recurrent.spread import spread
from foresay.kernels.recurrent.tracing import NotPointwise
from foresay.kernels.recurrent.values import read_values
from foresay.kernels.switch import in_file, in_graph, plain

Kept = dict[str, Tensor]
MANY = 32  # rows of the persistent kernel's programs above which four gates crowd them: a graph of small kernels wins
WORTH = 1 << 18  # elements of all gates and steps under which compiling takes longer than the plain loop


def run(maths: Maths, inputs: Inputs, wanted: tuple[str, ...]) -> tuple[Kept, Kept]:
    """The wanted keys for every step (T, B, width), and the states after the last one; consumes `inputs.fed`."""
    if in_file():
        return run_rolled(maths, inputs, wanted)
    function = choose(maths, inputs)
    return run_plain(maths, inputs, wanted) if function is None else run_fused(function, maths, inputs, wanted)


def run_fused(function: type, maths: Maths, inputs: Inputs, wanted: tuple[str, ...]) -> tuple[Kept, Kept]:
    """The same by a fused function (`loop.Loop`, `persistent.Whole`); what it does not keep is computed after it."""
    fused = fuse(maths, training=inputs.training)
    values = tuple(key for key in wanted if not key.startswith("new:"))
    fed = inputs.fed.clone() if values else inputs.fed
    given = dict(inputs.products) | dict(inputs.vectors) | dict(inputs.steps)
    states = [at_least(reaching_back(inputs.states[name]).transpose(0, 1), fused.before) for name in maths.states]
    histories = function.apply(fused, list(given), inputs.mask, fed, *states, *given.values())
    history = dict(zip(maths.states, histories, strict=True))
    after = {name: last_states(history[name].transpose(0, 1), old, inputs.mask) for name, old in inputs.states.items()}
    kept = {key: history[key.split(":")[1]][fused.before :] for key in wanted if key not in values}
    return kept | (read_values(maths, inputs, history, values) if values else {}), after


def at_least(state: Tensor, before: int) -> Tensor:
    """States (steps, B, width) with as many steps before the first as any source of the cell reaches back."""
    missing = before - len(state)
    return state if missing == 0 else torch.cat([state.new_zeros(missing, *state.shape[1:]), state])


def choose(maths: Maths, inputs: Inputs) -> type | None:
    """The fused function that fits, None for the plain loop."""
    fed = inputs.fed
    if plain() or fed.shape[0] * fed.shape[1] * maths.columns(maths.gates) < WORTH:
        return None
    fused = fusible(maths, training=inputs.training)
    if fused is None:
        return None
    from foresay.kernels.recurrent.loop import Loop

    if fed.device.type == "cpu":
        return Loop if fed.dtype == torch.float32 else None
    if not fed.is_cuda or fed.dtype not in (*HALF, torch.float32):
        return None
    shapes = spread(fused, fed.shape[1], fed.device) if fed.dtype in HALF else None
    if shapes is None or (in_graph() and shapes[0].rows > MANY and len(maths.gates) > 3):
        return Loop
    from foresay.kernels.recurrent.persistent import Whole

    return Whole


def beats_library(maths: Maths, x: Tensor, function: str, *, training: bool) -> bool:
    """Whether the engine will run x (B, T, D) faster than torch's function.

    In half precision on a GPU the persistent kernel is. On a CPU torch's LSTM is one call of a fused kernel, its GRU
    and RNN are loops of single operations: measured 1.2 to 3.8 and 0.9 to 3.2 times the fused loop's time.
    """
    if x.shape[0] * x.shape[1] * maths.columns(maths.fed) < WORTH:
        return False
    if x.device.type == "cpu":
        exact = x.dtype == torch.float32 and not torch.is_autocast_enabled("cpu")
        return exact and function != "lstm" and library() is not None and fusible(maths, training=training) is not None
    if half_on_gpu(x) is None:
        return False
    fused = fusible(maths, training=training)
    return fused is not None and spread(fused, len(x), x.device) is not None


def fusible(maths: Maths, *, training: bool = False) -> Fused | None:
    """The fused form of a cell, None where it has none; `maths.derived["unfusible"]` then says why."""
    if ("unfusible", training) in maths.derived:
        return None
    try:
        return fuse(maths, training=training)
    except NotPointwise as reason:
        maths.derived["unfusible", training] = maths.derived["unfusible"] = reason
        return None
