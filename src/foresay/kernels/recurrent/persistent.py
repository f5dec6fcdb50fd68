"""Runs a whole recurrence as one kernel on a GPU: `persistent_code` writes it, this launches it.

Half precision only (bf16, float16): products in half precision, pointwise maths and states between steps in float32.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from foresay.kernels.recurrent.arrays import Arrays, recall, saved, weight_gradients
from foresay.kernels.recurrent.fuse import Fused
from foresay.kernels.recurrent.loop import Loop, run_forwards
from foresay.kernels.recurrent.maths import delay, state_of
from foresay.kernels.recurrent.persistent_backwards import Backwards
from foresay.kernels.recurrent.persistent_code import Written
from foresay.kernels.recurrent.persistent_forwards import Forwards
from foresay.kernels.recurrent.spread import BJ, spread
from foresay.kernels.recurrent.triton_expressions import PRELUDE, identifier
from foresay.kernels.recurrent.triton_module import load


class TooLarge(Exception):
    """The compiled kernel needs more shared memory than there is."""


def written(
    fused: Fused, direction: type[Written], rows: int, device: torch.device, *, masked: bool
) -> tuple[Written, Any]:
    """A direction's kernel, written and loaded once."""
    key = (direction, rows, device, masked)
    if key not in fused.derived:
        shapes = spread(fused, rows, device)
        assert shapes is not None
        writer = direction(fused, shapes[direction is Backwards], masked=masked)
        module = load("\n".join([PRELUDE, "", *writer.lines(), ""]))
        fused.derived[key] = writer, getattr(module, writer.direction)
    return fused.derived[key]


def _launch(fused: Fused, direction: type[Written], arrays: Mapping[str, Tensor], **flags: Any) -> None:
    fed = arrays["fed"]
    steps, rows = fed.shape[:2]
    writer, kernel = written(fused, direction, rows, fed.device, masked="mask" in arrays)
    grid = (-(-writer.size // BJ), -(-rows // writer.shape.rows))
    counter = torch.zeros(grid[1] * 32, dtype=torch.int32, device=fed.device)
    pointers = [arrays[name] for name in writer.arguments()]
    for key in writer.vectors:
        flags[f"ROW_{identifier(key)}"] = writer.size if arrays[key].dim() == 2 else 0
    options = {"num_warps": writer.shape.warps, "launch_cooperative_grid": True}
    try:
        kernel[grid](*pointers, counter, steps, rows, **flags, **options)
    except Exception as error:
        if type(error).__name__ != "OutOfResources":  # Triton's, which is imported only where there is a GPU
            raise
        raise TooLarge from error


class Whole(torch.autograd.Function):
    """fed (T, B, columns), states before (P, B, width), the tensors of `names` -> every state (P + T, B, width)."""

    @staticmethod
    def forward(ctx: Any, fused: Fused, names: list[str], mask: Tensor | None, fed: Tensor, *rest: Tensor) -> Any:
        arrays, given = saved(ctx, fused, names, mask, fed, rest)
        weights = {f"weight:{source}": given[source].to(fed.dtype).contiguous() for source in fused.runs}
        try:
            _launch(fused, Forwards, arrays | weights)
        except TooLarge:  # shared memory was reckoned too low
            run_forwards(fused, arrays, given)
        return tuple(arrays[f"state:{name}"] for name in fused.maths.states)

    @staticmethod
    @once_differentiable  # FORESAY_PLAIN=1 takes the way that is differentiable twice
    def backward(ctx: Any, *outer: Tensor | None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        fused: Fused = ctx.fused
        arrays, given = recall(ctx)
        fed, size = arrays["fed"], fused.maths.widths["state:h"]
        arrays |= {f"d{name}": torch.empty_like(arrays[name]) for name in ("fed", "unfed")}
        arrays |= {f"weight:{source}": given[source].to(fed.dtype).contiguous() for source in fused.runs}
        flags = {}
        for name, grad in zip(fused.maths.states, outer, strict=True):
            arrays[f"outer:{name}"] = fed if grad is None else grad.contiguous()
            arrays[f"first:{name}"] = torch.empty(fed.shape[1], size, device=fed.device)
            flags[f"OUTER_{name}"] = grad is not None
        for key in given:
            if key.startswith("vector:"):
                arrays[f"d{key}"] = torch.empty(fed.shape[1], size, device=fed.device)
        try:
            _launch(fused, Backwards, arrays, **flags)
        except TooLarge:
            return Loop.backward(ctx, *outer)
        firsts = [_firsts(fused, arrays, n, g) for n, g in zip(fused.maths.states, outer, strict=True)]
        firsts = [first.to(dtype) for first, dtype in zip(firsts, ctx.dtypes.values(), strict=True)]
        return (None, None, None, arrays["dfed"], *firsts, *weight_gradients(ctx, fused, arrays, given))


def _firsts(fused: Fused, arrays: Arrays, name: str, outer: Tensor | None) -> Tensor:
    """The gradients of the states before the first step: (P, B, width)."""
    last, before = arrays[f"first:{name}"], fused.before
    if before == 1:
        return last[None] if outer is None else last[None] + outer[:1]
    grads = last.new_zeros(before, *last.shape) if outer is None else outer[:before].float()
    grads[-1] += last
    for source, runs in fused.runs.items():
        if delay(source) < 2 or state_of(source) != name:
            continue
        for place in range(before - 1):  # the kernel has followed them only to the state just before the first step
            t = place - before + delay(source)
            if 0 <= t < len(arrays["fed"]):
                for run in runs:
                    gates = arrays[f"d{run.array}"][t, :, run.begin : run.end]
                    grads[place] += gates @ arrays[f"weight:{source}"][run.rows[0] : run.rows[1]]
    return grads
