"""A phase as operations, forwards and its derivative, read off the cell's own code while it runs once.

The code runs on two rows of random numbers, its derivative by torch's own autograd, and every operation that torch
carries out is noted: on what, and as what. Operations that are made of others are taken apart by torch's own rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from foresay.kernels.recurrent.operations import Operations, Value

ROWS = 2  # of the tensors a phase is traced with: only their widths matter
Run = Callable[..., tuple[Tensor, ...]]


class NotPointwise(Exception):
    """A phase uses an operation that has no pointwise form here; the plain loop runs it."""


def trace(operations: Operations, run: Run, inputs: Sequence[Value], widths: Sequence[int]) -> list[Value]:
    """Adds what a phase computes from inputs of these names and widths; its results in order."""
    notes = _Notes(operations)
    given = [notes.take(value, torch.rand(ROWS, width)) for value, width in zip(inputs, widths, strict=True)]
    with torch.no_grad(), notes:
        return [notes.value(result) for result in run(*given)]


def trace_derivative(
    operations: Operations, run: Run, inputs: Sequence[Value], widths: Sequence[int], grads: Sequence[Value]
) -> list[Value | None]:
    """Adds the gradients of a phase's inputs, given those of its outputs; None where there is none."""
    notes = _Notes(operations)
    given = [notes.take(value, torch.rand(ROWS, width)) for value, width in zip(inputs, widths, strict=True)]
    leaves = [tensor.requires_grad_() for tensor in given]
    with torch.enable_grad(), notes:
        outputs = run(*leaves)
    pulls = [notes.take(grad, torch.rand(output.shape)) for output, grad in zip(outputs, grads, strict=True)]
    through = [(output, pull) for output, pull in zip(outputs, pulls, strict=True) if output.requires_grad]
    ends, begins = [output for output, _ in through], [pull for _, pull in through]
    with notes:
        pulled = torch.autograd.grad(ends, leaves, begins, allow_unused=True)
        return [None if grad is None else notes.value(grad) for grad in pulled]


class _Notes(TorchDispatchMode):
    """Which tensor is which value, by the place of its numbers; filled by every operation that torch carries out."""

    def __init__(self, operations: Operations) -> None:
        super().__init__()
        self.operations = operations
        self.names: dict[int, Value] = {}
        self.kept: list[Tensor] = []  # or a new tensor might take the place of a forgotten one

    def take(self, value: Value, tensor: Tensor) -> Tensor:
        self.names[tensor.data_ptr()] = value
        self.kept.append(tensor)
        return tensor

    def value(self, argument: Any) -> Any:
        """A tensor as a value; numbers as they are."""
        if isinstance(argument, bool | int):
            return float(argument)
        if not isinstance(argument, Tensor):
            return argument
        if argument.data_ptr() in self.names:
            return self.names[argument.data_ptr()]
        if argument.numel() != 1 or argument.requires_grad:
            raise NotPointwise(f"a tensor of shape {tuple(argument.shape)} that is no argument")
        return argument.item()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        kind, _, overload = str(func).removeprefix("aten.").partition(".")
        if kind in FILLED:
            at = FILLED[kind]
            return self.take(at if isinstance(at, float) else float(args[-1]), func(*args, **kwargs))
        plain = kind.removesuffix("_") if kind not in ("copy_",) else kind
        if plain in KNOWN:
            found = self._note(plain, args, kwargs)
            return self.take(found, func(*args, **kwargs))
        named, apart = f"{kind}.{overload}" if overload else kind, _rules().get(func)
        if apart is None:
            raise NotPointwise(named)
        try:
            with self:
                return apart(*args, **kwargs)
        except NotPointwise:
            raise NotPointwise(named) from None

    def _note(self, kind: str, args: Any, kwargs: Any) -> Value:
        """The value of an operation; in place, the tensor it changes gets it too."""
        if kind in ROWWISE:
            return ROWWISE[kind](self.operations, self.value(args[0]), *args[1:], **kwargs)
        values = [self.value(argument) for argument in args]
        if kind in SAME:
            return values[0]
        if kind in SPECIAL:
            return SPECIAL[kind](self.operations, *values, **{k: self.value(v) for k, v in kwargs.items()})
        return self.operations.add(POINTWISE[kind], *values)


def _rules() -> Any:
    """How torch takes operations apart that are made of others."""
    from torch._decomp import decomposition_table

    return decomposition_table


def _add(operations: Operations, a: Value, b: Value, alpha: float = 1.0) -> Value:
    return operations.add("add", a, b if alpha == 1 else operations.add("mul", b, float(alpha)))


def _sub(operations: Operations, a: Value, b: Value, alpha: float = 1.0) -> Value:
    return operations.add("sub", a, b if alpha == 1 else operations.add("mul", b, float(alpha)))


def _power(operations: Operations, a: Value, exponent: Value) -> Value:
    if not isinstance(exponent, int | float) or exponent not in (0.5, 1, 2, 3, -1):
        raise NotPointwise(f"pow with exponent {exponent}")
    if exponent == 0.5:
        return operations.add("sqrt", a)
    if exponent == -1:
        return operations.add("div", 1.0, a)
    if exponent == 1:
        return a
    square = operations.add("mul", a, a)
    return square if exponent == 2 else operations.add("mul", square, a)


def _clamp(operations: Operations, a: Value, low: Value | None = None, high: Value | None = None) -> Value:
    a = a if low is None else operations.add("maximum", a, float(low) if isinstance(low, int) else low)
    return a if high is None else operations.add("minimum", a, float(high) if isinstance(high, int) else high)


def _reduce(kind: str) -> Callable[..., Value]:
    def reduce(operations: Operations, a: Value, axes: Sequence[int] = (), keep: bool = False, **_: Any) -> Value:
        if not keep or [axis % 2 for axis in axes] != [1]:
            raise NotPointwise(f"{kind} over axes {list(axes)}; along a row with keepdim=True it is fused")
        return operations.add(f"row_{kind}", a)

    return reduce


def _tanh_back(operations: Operations, grad: Value, y: Value) -> Value:
    return operations.add("mul", grad, operations.add("sub", 1.0, operations.add("mul", y, y)))


def _sigmoid_back(operations: Operations, grad: Value, y: Value) -> Value:
    return operations.add("mul", grad, operations.add("mul", y, operations.add("sub", 1.0, y)))


# aten's name -> ours; a backend writes each of ours as an operator or a function
POINTWISE = {
    "mul": "mul",
    "div": "div",
    "neg": "neg",
    "sigmoid": "sigmoid",
    "tanh": "tanh",
    "exp": "exp",
    "log": "log",
    "log1p": "log1p",
    "expm1": "expm1",
    "sqrt": "sqrt",
    "rsqrt": "rsqrt",
    "abs": "abs",
    "erf": "erf",
    "sin": "sin",
    "cos": "cos",
    "maximum": "maximum",
    "minimum": "minimum",
    "where": "where",
    "eq": "eq",
    "ne": "ne",
    "lt": "lt",
    "le": "le",
    "gt": "gt",
    "ge": "ge",
    "logical_and": "and",
    "bitwise_and": "and",
    "logical_or": "or",
    "bitwise_or": "or",
    "logical_not": "not",
    "bitwise_not": "not",
}
SAME = {
    "detach",
    "alias",
    "clone",
    "_to_copy",
    "to",
    "expand",
    "view",
    "lift_fresh_copy",
    "lift_fresh",
    "squeeze",
    "unsqueeze",
}
FILLED = {
    "ones_like": 1.0,
    "zeros_like": 0.0,
    "full_like": None,
    "ones": 1.0,
    "zeros": 0.0,
    "full": None,
    "scalar_tensor": None,
}
SPECIAL: dict[str, Callable[..., Any]] = {
    "add": _add,
    "sub": _sub,
    "rsub": lambda operations, a, b, alpha=1.0: _sub(operations, b, a, alpha),
    "relu": lambda operations, a: operations.add("maximum", a, 0.0),
    "reciprocal": lambda operations, a: operations.add("div", 1.0, a),
    "pow": _power,
    "clamp": _clamp,
    "clamp_min": _clamp,
    "clamp_max": lambda operations, a, high: _clamp(operations, a, None, high),
    "tanh_backward": _tanh_back,
    "sigmoid_backward": _sigmoid_back,
    "copy_": lambda operations, old, new, wait=False: new,
    "masked_fill": lambda operations, a, where, value: operations.add("where", where, value, a),
}
ROWWISE: dict[str, Callable[..., Any]] = {"sum": _reduce("sum"), "mean": _reduce("mean"), "amax": _reduce("max")}
KNOWN = {*SAME, *POINTWISE, *SPECIAL, *ROWWISE}
