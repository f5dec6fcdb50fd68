"""The plain loop rolled up: one operation of a graph, whatever the number of steps; the twin of plain.py.

While a model is noted for a file (switch.py's `as_file`), a loop in Python would be written down step by step for one
length. Here the step is noted once, as the body of torch's `scan`, which ONNX knows as Scan:

    carried   every state, with as many steps back as the cell sees         (B, steps, width)
    per step  fed, the inputs of x:x, the mask                              (B, ...) of (T, B, ...)

fed (T, B, columns), states (B, width) -> every wanted key for all steps (T, B, width), and the states after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from foresay.kernels.recurrent.maths import Maths
from foresay.kernels.recurrent.plain import Inputs, reaching_back, step


def run_rolled(maths: Maths, inputs: Inputs, wanted: tuple[str, ...]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The wanted keys for every step (new states at padding as they were), and the states after the last one."""
    states = [*maths.states]
    known = {**inputs.products, **{key: one.clone() for key, one in inputs.vectors.items()}}  # pieces of one: refused
    mask = [] if inputs.mask is None else [inputs.mask]
    rows = {"fed": inputs.fed, **inputs.steps, **dict.fromkeys(["mask"][: len(mask)], *mask)}

    def body(*given: Tensor) -> list[Tensor]:
        before, row, whole = _apart(given, states, list(rows), list(known))
        products, vectors = ({key: whole[key] for key in part} for part in (inputs.products, inputs.vectors))
        steps = {key: row[key][None] for key in inputs.steps}
        past = {name: list(one.unbind(1)) for name, one in before.items()}
        values = step(maths, replace(inputs, products=products, vectors=vectors, steps=steps), 0, row["fed"], past)
        after = {name: torch.cat([one[:, 1:], values[f"new:{name}"][:, None]], 1) for name, one in before.items()}
        if mask:  # padding leaves all as it was
            after = {name: torch.where(row["mask"][:, None, None], after[name], before[name]) for name in states}
            values |= {f"new:{name}": after[name][:, -1] for name in states}
        return [*after.values(), *(values[key].clone() for key in wanted)]

    first = [reaching_back(inputs.states[name]).clone() for name in states]
    found = torch.ops.higher_order.scan(body, first, list(rows.values()), tuple(known.values()))
    after = dict(zip(states, found, strict=False))
    kept = dict(zip(wanted, found[len(states) :], strict=True))
    return kept, {name: after[name] if inputs.states[name].dim() == 3 else after[name][:, -1] for name in states}


def _apart(given: Sequence[Tensor], *names: list[str]) -> list[dict[str, Tensor]]:
    """What a body is given in one row, by the names of each part."""
    rest = iter(given)
    return [{name: next(rest) for name in part} for part in names]
