"""A stage run once on two rows of zeros, when its cell is built: every way it can be wrong is one line here.

The line names the cell, the stage and the shape; the rows are called B.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from foresay.errors import UserError

ROWS = 2


def dry_run(
    where: str,
    function: Callable[..., Any],
    inputs: Mapping[str, Tensor],
    states: tuple[str, ...],
    sizes: Mapping[str, int],
) -> dict[str, Tensor]:
    """What a stage gives for these inputs, by key; `sizes` are the widths of states by key."""
    with torch.inference_mode(False):  # in which a run may be loaded; its tensors count no changes
        copies = {key: value.clone() for key, value in inputs.items()}
    versions = {key: value._version for key, value in copies.items()}
    try:
        with torch.inference_mode(False), torch.enable_grad():
            given = function(*copies.values())
    except Exception as error:
        raise UserError(_failed(where, inputs, error)) from error
    for key, value in copies.items():
        if value._version != versions[key]:
            raise UserError(f"{where} changes {_name(key)} in place; give the new value a name of its own")
    _check_dict(where, given)
    for name, value in given.items():
        _check_value(where, name, value, sizes.get(f"state:{name}"))
        if value.requires_grad:
            raise UserError(f"{where} uses {_parameter_in(value, function)}")
    return {f"{'new' if name in states else 'value'}:{name}": value.detach() for name, value in given.items()}


def _failed(where: str, inputs: Mapping[str, Tensor], error: Exception) -> str:
    shapes = ", ".join(f"{_name(key)} (B, {value.shape[1]})" for key, value in inputs.items())
    hint = "; a parameter is named in vectors and read as an argument" if isinstance(error, AttributeError) else ""
    return f"{where} fails on {shapes}: {type(error).__name__}: {' '.join(str(error).split())}{hint}"


def _check_dict(where: str, given: Any) -> None:
    told = None
    if not isinstance(given, dict):
        told = "None" if given is None else type(given).__name__
    else:
        for name, value in given.items():
            if not isinstance(name, str) or not name.isidentifier() or "__" in name:
                told = f"a value called {name!r}"
            elif not isinstance(value, Tensor):
                told = f"{name} as {type(value).__name__}"
    if told is not None:
        raise UserError(f"{where} returns {told}; allowed: a dict of tensors by name, as {{'h': h}}")


def _check_value(where: str, name: str, value: Tensor, width: int | None) -> None:
    if value.dim() != 2 or value.shape[0] != ROWS or width not in (None, value.shape[1]):
        raise UserError(f"{where} returns {name} of shape {_shape(value)}; allowed: (B, {width or 'width'})")
    if value.dtype != torch.get_default_dtype():
        dtypes = [str(dtype).removeprefix("torch.") for dtype in (value.dtype, torch.get_default_dtype())]
        raise UserError(f"{where} returns {name} in {dtypes[0]}; allowed: {dtypes[1]}, as its inputs are")


def _parameter_in(value: Tensor, function: Callable[..., Any]) -> str:
    """The parameter that a value came from, and where it belongs: fused loops read arguments alone."""
    cell = getattr(function, "__self__", None)
    names = {id(p): name for name, p in cell.named_parameters()} if isinstance(cell, nn.Module) else {}
    waiting = [value.grad_fn]
    while waiting:
        node = waiting.pop()
        found = getattr(node, "variable", None)
        if found is not None:
            shape = f"({', '.join(map(str, found.shape))})"
            vector = "name it in vectors and read it as an argument"
            product = "a product is a gate: name it in gates and say with @stage what it sees"
            remedy = product if found.dim() > 1 else vector
            return f"the parameter {names.get(id(found), '')} {shape}, which is none of its arguments; {remedy}"
        waiting += [inner for inner, _ in node.next_functions if inner is not None] if node is not None else []
    return "a tensor with gradient, which is none of its arguments; name it in vectors and read it as an argument"


def _name(key: str) -> str:
    """What a stage calls the value of a key."""
    kind, name = key.split(":")
    return f"new_{name}" if kind == "new" else name


def _shape(value: Tensor) -> str:
    """A shape in a user's words: the two rows of the dry run are the batch."""
    return "(" + ", ".join("B" if i == 0 and n == ROWS else str(n) for i, n in enumerate(value.shape)) + ")"
