"""The fused loop over time: each step one product for each source and one compiled kernel for each phase.

The kernels are LLVM's on a CPU (`llvm`) and Triton's on a GPU (`triton_rows`).

Weight gradients are one product over all steps at the end. The gates' pre-activations are kept for the way back, and
everything pointwise is computed again from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from foresay.kernels.recurrent.arrays import Arrays, operand_of, recall, room, saved, weight_gradients, with_room
from foresay.kernels.recurrent.fuse import Fused, Kernel, products_after
from foresay.kernels.recurrent.maths import delay, state_of


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
            arrays[f"dstate:{name}"] = torch.zeros_like(with_room(state))[:, :, : state.shape[2]]
            if grad is not None:
                arrays[f"dstate:{name}"].copy_(grad)
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
    steps = len(arrays["fed"])
    phases = []
    written: set[tuple[str, int]] = set()  # columns that hold a product already
    for phase, kernel in zip(fused.phases.phases, fused.forwards, strict=True):
        products = []
        for source in phase.sources:
            operands = with_room(operand_of(fused, arrays, source)).unbind(0)
            for run in fused.runs[source]:
                # transposed and side by side in memory: measured 2.3 times faster than the strided product
                weight = _widened(given[source][run.rows[0] : run.rows[1]], operands[0]).t().contiguous()
                outs = arrays[run.array][:, :, run.begin : run.end].unbind(0)
                columns = {(run.array, column) for column in range(run.begin, run.end)}
                if run.array == "unfed" and columns & written and not columns <= written:
                    arrays["unfed"].zero_()
                fresh = run.array == "unfed" and not columns & written
                written |= columns
                products.append((outs, operands, weight, 0.0 if fresh else 1.0))
        phases.append((products, _bind(kernel, arrays)))
    for t in range(steps):
        for products, kernel in phases:
            for outs, operands, weight, keep in products:
                outs[t].addmm_(operands[t], weight, beta=keep)
            kernel(t)


def _backwards(fused: Fused, arrays: Arrays, given: Mapping[str, Tensor]) -> None:
    steps = len(arrays["fed"])
    after = products_after(fused)
    phases = []
    for index in reversed(range(len(fused.backwards))):
        products = []
        for source in after[index]:
            lag = delay(source)
            for run in fused.runs[source]:
                grads = arrays[f"d{run.array}"][:, :, run.begin : run.end].unbind(0)
                if lag:
                    begin = fused.before - lag
                    outs = with_room(arrays[f"dstate:{state_of(source)}"])[begin : begin + steps].unbind(0)
                else:
                    outs = (with_room(arrays[f"back:{source}"]),) * steps
                weight = _widened(given[source][run.rows[0] : run.rows[1]], outs[0]).contiguous()
                products.append((outs, grads, weight))
        phases.append((_bind(fused.backwards[index], arrays), products))
    for t in reversed(range(steps)):
        for kernel, products in phases:
            kernel(t)
            for outs, grads, weight in products:
                outs[t].addmm_(grads[t], weight)


def aligned(fed: Tensor) -> int:
    """Numbers to a row of what is multiplied: the matrix units of a GPU want sixteen bytes, eight in half precision."""
    return 8 if fed.is_cuda and fed.element_size() == 2 else 1


def _widened(weight: Tensor, like: Tensor) -> Tensor:
    """A weight in the type of `like` (B, width), with zeros for the room that lies between its rows."""
    return F.pad(weight.to(like.dtype), (0, like.shape[1] - weight.shape[1]))


def _bind(kernel: Kernel, arrays: Arrays) -> Callable[[int], None]:
    """A compiled kernel on these arrays: called with the step."""
    if arrays["fed"].is_cuda:
        from foresay.kernels.recurrent import triton_rows

        return triton_rows.bind(kernel, arrays)
    from foresay.kernels.recurrent import llvm

    return llvm.bind(kernel, arrays)
