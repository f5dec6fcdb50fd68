"""The arrays of a fused run, the same for every backend: made before the forward loop, kept for the way back.

`fuse` says what each one is. Everything is time first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from foresay.kernels.product import filled, gradient_product
from foresay.kernels.recurrent.fuse import Fused
from foresay.kernels.recurrent.maths import delay, state_of

Arrays = dict[str, Tensor]


def saved(
    ctx: Any,
    fused: Fused,
    names: list[str],
    mask: Tensor | None,
    fed: Tensor,
    rest: tuple[Tensor, ...],
    *,
    whole: int = 1,
) -> tuple[Arrays, Arrays]:
    """The arrays before the first step and the tensors given by name; both are remembered in `ctx`.

    What is multiplied lies in rows of a multiple of `whole` numbers, zero past the end.

    `rest`: the states before the first step (P, B, width), then the tensors of `names`. States that are multiplied are
    kept in the type of `fed`, others in float32 at least.
    """
    maths = fused.maths
    steps, rows = fed.shape[:2]
    count = len(maths.states)
    given = dict(zip(names, rest[count:], strict=True))
    arrays: Arrays = {"fed": fed.contiguous(), "unfed": fed.new_empty(steps, rows, fused.columns["unfed"])}
    multiplied = {state_of(source) for source in fused.runs if delay(source)}
    exact = torch.promote_types(fed.dtype, torch.float32)
    for name, before in zip(maths.states, rest[:count], strict=True):
        dtype = fed.dtype if name in multiplied else exact
        history = room((fused.before + steps, rows, before.shape[2]), dtype, fed.device, whole)
        history[: fused.before] = before
        arrays[f"state:{name}"] = history
    arrays |= {key: tensor.contiguous() for key, tensor in given.items() if key not in fused.runs}
    for key in fused.phases.operands:
        arrays[f"operand:{key}"] = room((steps, rows, fused.width(key)), fed.dtype, fed.device, whole)
    if mask is not None:
        arrays["mask"] = mask.contiguous().view(torch.uint8)
    ctx.save_for_backward(*rest[count:], *arrays.values())
    ctx.set_materialize_grads(False)
    ctx.fused, ctx.first, ctx.names, ctx.keys = fused, 4 + count, names, list(arrays)
    ctx.dtypes = {name: before.dtype for name, before in zip(maths.states, rest[:count], strict=True)}
    return arrays, given


def room(shape: tuple[int, int, int], dtype: torch.dtype, device: torch.device, whole: int) -> Tensor:
    """An array whose rows lie a multiple of `whole` numbers apart; what is between is zero."""
    width = -(-shape[2] // whole) * whole
    if width == shape[2]:
        return torch.empty(shape, dtype=dtype, device=device)
    return torch.zeros(*shape[:2], width, dtype=dtype, device=device)[:, :, : shape[2]]


def with_room(array: Tensor) -> Tensor:
    """The array with the zeros between its rows, for products: (..., width) -> (..., width and what is between)."""
    if array.stride(-2) == array.shape[-1]:
        return array
    return array.as_strided((*array.shape[:-1], array.stride(-2)), array.stride(), array.storage_offset())


def recall(ctx: Any) -> tuple[Arrays, Arrays]:
    """On the way back: the arrays and the tensors given by name."""
    kept, count = ctx.saved_tensors, len(ctx.names)
    return dict(zip(ctx.keys, kept[count:], strict=True)), dict(zip(ctx.names, kept[:count], strict=True))


def operand_of(fused: Fused, arrays: Arrays, source: str) -> Tensor:
    """What a source's product reads, for all steps: (T, B, width)."""
    lag = delay(source)
    if not lag:
        return arrays[f"operand:{source}"]
    begin = fused.before - lag
    return arrays[f"state:{state_of(source)}"][begin : begin + len(arrays["fed"])]


def weight_gradients(ctx: Any, fused: Fused, arrays: Arrays, given: Mapping[str, Tensor]) -> list[Tensor | None]:
    """The gradients of the tensors given by name: products with all steps at once."""
    grads: list[Tensor | None] = []
    for index, (key, tensor) in enumerate(given.items()):
        grad = None
        if ctx.needs_input_grad[ctx.first + index]:
            if key in fused.runs:
                operand = filled(with_room(operand_of(fused, arrays, key)).flatten(0, 1))
                runs = [arrays[f"d{run.array}"][:, :, run.begin : run.end].flatten(0, 1) for run in fused.runs[key]]
                products = [gradient_product(run, operand, tensor.dtype) for run in runs]
                grad = (products[0] if len(products) == 1 else torch.cat(products))[:, : tensor.shape[1]]
            else:
                grad = arrays[f"d{key}"]
                grad = grad.sum(0) if key.startswith("vector:") and tensor.dim() == 1 else grad
        grads.append(None if grad is None else grad.to(tensor.dtype))
    return grads
