"""Gates and named values of every step from the states of every step, without a loop over time.

Once all states are known, no step waits for another: the steps of all rows become rows, and one step of the plain twin
computes what the fused loop did not keep.

states (P + T, B, width), P of them before the first step -> values (T, B, width).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from torch import Tensor

from foresay.kernels.recurrent.maths import Maths
from foresay.kernels.recurrent.plain import Inputs, step


def read_values(
    maths: Maths, inputs: Inputs, histories: Mapping[str, Tensor], wanted: tuple[str, ...]
) -> dict[str, Tensor]:
    """The wanted keys for all steps; `histories`: every state by name; `inputs.fed` as it was before the loop."""
    steps, rows = inputs.fed.shape[:2]
    past = {}
    for name, history in histories.items():
        before, history = len(history) - steps, history.to(inputs.fed.dtype)
        past[name] = [history[begin : begin + steps].flatten(0, 1) for begin in range(before)]
    vectors = {key: v if v.dim() == 1 else v.repeat(steps, 1) for key, v in inputs.vectors.items()}
    at_once = {key: value.flatten(0, 1)[None] for key, value in inputs.steps.items()}
    products = {key: weight.to(inputs.fed.dtype) for key, weight in inputs.products.items()}
    values = step(
        maths, replace(inputs, products=products, vectors=vectors, steps=at_once), 0, inputs.fed.flatten(0, 1), past
    )
    return {key: values[key].view(steps, rows, -1) for key in wanted}
