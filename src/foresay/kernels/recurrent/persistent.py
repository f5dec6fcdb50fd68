"""Runs a whole recurrence as one kernel on a GPU: `triton_code` writes it, this launches it.

Half precision only (bf16, float16): products in half precision, pointwise maths and states between steps in float32.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from foresay.kernels.recurrent.arrays import Arrays, recall, saved, weight_gradients
from foresay.kernels.recurrent.fuse import Fused
from foresay.kernels.recurrent.loop import Loop, run_forwards
from foresay.kernels.recurrent.maths import delay
from foresay.kernels.recurrent.triton_code import BJ, LOADED, Persistent, Shape, identifier, pieces
from foresay.kernels.recurrent.triton_module import load

SHARED = 227 * 1024  # bytes of a multiprocessor's shared memory that one program may have


class TooLarge(Exception):
    """The compiled kernel needs more shared memory than there is."""


def spread(fused: Fused, rows: int, device: torch.device) -> tuple[Shape, Shape] | None:
    """How to spread the work over the chip, forwards and backwards; None where it does not fit."""
    key = ("spread", rows, device)
    if key not in fused.maths.derived:
        programs = torch.cuda.get_device_properties(device).multi_processor_count
        fused.maths.derived[key] = _spread(fused, rows, programs) if fits(fused) else None
    return fused.maths.derived[key]


def fits(fused: Fused) -> bool:
    """Whether the cell is of the kind a program can own units of: one width, nothing summed along rows."""
    maths = fused.maths
    size = maths.widths["state:h"]
    even = all(width == size for key, width in maths.widths.items() if not key.startswith("x:"))
    sums = any(kernel.reduces for kernel in (*fused.forwards, *fused.backwards))
    return even and not sums and not maths.read("x")


def _spread(fused: Fused, rows: int, programs: int) -> tuple[Shape, Shape] | None:
    size = fused.maths.widths["state:h"]
    blocks = -(-size // BJ)
    fitting = [n for n in (8, 16, 32, 64) if blocks * -(-rows // n) <= programs]
    if not fitting:
        return None
    rows_of = fitting[0]
    forwards = Shape(rows_of, 8 if rows_of > 32 else 4, 8192 // rows_of)
    backwards = Shape(rows_of, 8, 8192 // rows_of)
    if max(_held_forwards(fused, forwards), _held_backwards(fused, backwards)) > SHARED:
        return None
    return forwards, backwards


def _held_forwards(fused: Fused, shape: Shape) -> int:
    """Bytes of shared memory: weights, an operand, the sums of a product."""
    size = fused.maths.widths["state:h"]
    whole, split = (sum(n for _, n in shape.chunks(size, split=split)) for split in (False, True))
    groups = [piece for gates in fused.phases.seen.values() for piece in pieces(gates)]
    weights = sum(4 * whole if len(piece) > 2 else split for piece in groups) * BJ * 2
    return weights + max(whole, split) * shape.rows * 2 + 4 * BJ * shape.rows * 4


def _held_backwards(fused: Fused, shape: Shape) -> int:
    runs = [run for source in fused.runs.values() for run in source]
    units = [sum(n for _, n in shape.chunks(run.end - run.begin, split=True)) for run in runs]
    loaded = min(max(units) * shape.rows * 2, max(LOADED, shape.most * shape.rows * 2))
    return sum(units) * BJ * 2 + loaded + shape.warps * BJ * shape.rows * 4


def _writer(fused: Fused, rows: int, device: torch.device, *, masked: bool) -> tuple[Persistent, Any]:
    key = ("persistent", rows, device, masked)
    if key not in fused.maths.derived:
        shapes = spread(fused, rows, device)
        assert shapes is not None
        writer = Persistent(fused, masked=masked, forwards=shapes[0], backwards=shapes[1])
        fused.maths.derived[key] = writer, load(writer.source())
    return fused.maths.derived[key]


def _launch(fused: Fused, direction: str, arrays: Mapping[str, Tensor], **flags: Any) -> None:
    fed = arrays["fed"]
    steps, rows = fed.shape[:2]
    writer, module = _writer(fused, rows, fed.device, masked="mask" in arrays)
    shape = writer.shapes[direction]
    grid = (-(-writer.size // BJ), -(-rows // shape.rows))
    counter = torch.zeros(grid[1] * 32, dtype=torch.int32, device=fed.device)
    pointers = [arrays[name] for name in writer.arguments(direction)]
    for key in writer.reads:
        if key.startswith("vector:"):
            flags[f"ROW_{identifier(key)}"] = writer.size if arrays[key].dim() == 2 else 0
    kernel = getattr(module, direction)
    try:
        kernel[grid](*pointers, counter, steps, rows, **flags, num_warps=shape.warps, launch_cooperative_grid=True)
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
            _launch(fused, "forwards", arrays | weights)
        except TooLarge:  # shared memory was reckoned too low
            run_forwards(fused, arrays, given)
        return tuple(arrays[f"state:{name}"] for name in fused.maths.states)

    @staticmethod
    def backward(ctx: Any, *outer: Tensor | None) -> Any:
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
            _launch(fused, "backwards", arrays, **flags)
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
        if delay(source) < 2 or source[6:].split("@")[0] != name:
            continue
        for place in range(before - 1):  # the kernel has followed them only to the state just before the first step
            t = place - before + delay(source)
            if 0 <= t < len(arrays["fed"]):
                for run in runs:
                    gates = arrays[f"d{run.array}"][t, :, run.begin : run.end]
                    grads[place] += gates @ arrays[f"weight:{source}"][run.rows[0] : run.rows[1]]
    return grads
