"""The fused loop over time: each step one product for each source and one compiled kernel for each phase.

The kernels are LLVM's on a CPU (`llvm`) and Triton's on a GPU (`triton_rows`).

Weight gradients are one product over all steps at the end. The gates' pre-activations are kept for the way back, and
everything pointwise is computed again from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from foresay.kernels.recurrent.arrays import Arrays, operand_of, recall, room, saved, weight_gradients, with_room
from foresay.kernels.recurrent.fuse import Fused, Kernel, products_after
from foresay.kernels.recurrent.maths import delay, state_of
from foresay.kernels.recurrent.products import Step, ready


class Loop(torch.autograd.Function):
    """fed (T, B, columns), states before (P, B, width), the tensors of `names` -> every state (P + T, B, width)."""

    @staticmethod
    def forward(ctx: Any, fused: Fused, names: list[str], mask: Tensor | None, fed: Tensor, *rest: Tensor) -> Any:
        arrays, given = saved(ctx, fused, names, mask, fed, rest, whole=aligned(fed))
        run_forwards(fused, arrays, given)
        return tuple(arrays[f"state:{name}"] for name in fused.maths.states)

    @staticmethod
    @once_differentiable  # FORESAY_PLAIN=1 takes the way that is differentiable twice
    def backward(ctx: Any, *outer: Tensor | None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        fused: Fused = ctx.fused
        arrays, given = recall(ctx)
        rows = arrays["fed"].shape[1]
        exact = torch.promote_types(arrays["fed"].dtype, torch.float32)
        for name, grad in zip(fused.maths.states, outer, strict=True):
            state = arrays[f"state:{name}"]
            own = room((len(state), rows, state.shape[2]), state.dtype, state.device, aligned(arrays["fed"]))
            arrays[f"dstate:{name}"] = own.zero_() if grad is None else own.copy_(grad)
        arrays |= {f"d{name}": torch.empty_like(arrays[name]) for name in ("fed", "unfed")}
        for key, tensor in given.items():
            if key.startswith("x:"):
                arrays[f"d{key}"] = torch.zeros_like(arrays[key])
            if key.startswith("vector:"):
                arrays[f"d{key}"] = torch.zeros(rows, tensor.shape[-1], dtype=exact, device=tensor.device)
        for key in fused.collected:
            fed, width = arrays["fed"], fused.width(key)
            arrays[f"back:{key}"] = room((1, rows, width), fed.dtype, fed.device, aligned(fed))[0].zero_()
        _backwards(fused, arrays, given)
        firsts = [arrays[f"dstate:{name}"][: fused.before].to(ctx.dtypes[name]) for name in fused.maths.states]
        return (None, None, None, arrays["dfed"], *firsts, *weight_gradients(ctx, fused, arrays, given))


def run_forwards(fused: Fused, arrays: Arrays, given: Mapping[str, Tensor]) -> None:
    calls: list[Step] = []
    written: set[tuple[str, int]] = set()  # columns that hold a product already
    for phase, kernel in zip(fused.phases.phases, fused.forwards, strict=True):
        for source in phase.sources:
            operand = with_room(operand_of(fused, arrays, source))
            for run in fused.runs[source]:
                weight = _widened(given[source][run.rows[0] : run.rows[1]], operand).t()
                columns = {(run.array, column) for column in range(run.begin, run.end)}
                if run.array == "unfed" and columns & written and not columns <= written:
                    arrays["unfed"].zero_()
                fresh = run.array == "unfed" and not columns & written
                written |= columns
                out = arrays[run.array][:, :, run.begin : run.end]
                calls.append(ready(out, operand, weight, 0.0 if fresh else 1.0))
        calls.append(_bind(kernel, arrays))
    for t in range(len(arrays["fed"])):
        for call in calls:
            call(t)


def _backwards(fused: Fused, arrays: Arrays, given: Mapping[str, Tensor]) -> None:
    steps = len(arrays["fed"])
    after = products_after(fused)
    calls: list[Step] = []
    for index in reversed(range(len(fused.backwards))):
        calls.append(_bind(fused.backwards[index], arrays))
        for source in after[index]:
            lag = delay(source)
            for run in fused.runs[source]:
                grads = arrays[f"d{run.array}"][:, :, run.begin : run.end]
                if lag:
                    begin = fused.before - lag
                    out = with_room(arrays[f"dstate:{state_of(source)}"])[begin : begin + steps]
                else:
                    out = with_room(arrays[f"back:{source}"]).expand(steps, -1, -1)
                calls.append(ready(out, grads, _widened(given[source][run.rows[0] : run.rows[1]], out)))
    for t in reversed(range(steps)):
        for call in calls:
            call(t)


def aligned(fed: Tensor) -> int:
    """Numbers to a row of what is multiplied: the matrix units of a GPU want sixteen bytes, eight in half precision."""
    return 8 if fed.is_cuda and fed.element_size() == 2 else 1


def _widened(weight: Tensor, like: Tensor) -> Tensor:
    """A weight in the type of `like` (T, B, width), with zeros for the room that lies between its rows."""
    return F.pad(weight.to(like.dtype), (0, like.shape[2] - weight.shape[1]))


def _bind(kernel: Kernel, arrays: Arrays) -> Step:
    """A compiled kernel on these arrays: called with the step."""
    if arrays["fed"].is_cuda:
        from foresay.kernels.recurrent import triton_rows

        return triton_rows.bind(kernel, arrays)
    from foresay.kernels.recurrent import llvm

    return llvm.bind(kernel, arrays)
