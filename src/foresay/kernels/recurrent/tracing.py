"""A phase as operations, forwards and its derivative, read off the cell's own code while it runs once.

The code runs on two rows of numbers, its derivative by torch's own autograd, and every operation that torch carries out
is noted: on what, and as what. Operations that are made of others are taken apart by torch's own rules.

What a comparison gives is a truth, which becomes 1 or 0 where it is reckoned with. What a sum along a row gives is one
number for the row and may meet anything as wide as what was summed; nothing else may meet what is of another width.
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
    given = [notes.take(value, _numbers(width)) for value, width in zip(inputs, widths, strict=True)]
    with torch.no_grad(), notes:
        return [notes.result(result) for result in run(*given)]


def trace_derivative(
    operations: Operations, run: Run, inputs: Sequence[Value], widths: Sequence[int], grads: Sequence[Value]
) -> list[Value | None]:
    """Adds the gradients of a phase's inputs, given those of its outputs; None where there is none."""
    notes = _Notes(operations)
    given = [notes.take(value, _numbers(width)) for value, width in zip(inputs, widths, strict=True)]
    leaves = [tensor.requires_grad_() for tensor in given]
    with torch.enable_grad(), notes:
        outputs = run(*leaves)
    pulls = [notes.take(grad, torch.ones(output.shape)) for output, grad in zip(outputs, grads, strict=True)]
    through = [(output, pull) for output, pull in zip(outputs, pulls, strict=True) if output.requires_grad]
    ends, begins = [output for output, _ in through], [pull for _, pull in through]
    notes.backwards = True
    with notes:
        pulled = torch.autograd.grad(ends, leaves, begins, allow_unused=True)
        return [None if grad is None else notes.result(grad) for grad in pulled]


def _numbers(width: int) -> Tensor:
    """Two rows between 0 and 1: any would do, but none may be drawn, or a run would draw other ones after it."""
    return torch.linspace(0.1, 0.9, ROWS * width).view(ROWS, width).clone()


class _Notes(TorchDispatchMode):
    """Which tensor is which value, by the place of its numbers; filled by every operation that torch carries out."""

    def __init__(self, operations: Operations) -> None:
        super().__init__()
        self.operations = operations
        self.backwards = False
        self.names: dict[int, Value] = {}
        self.kept: list[Tensor] = []  # or a new tensor might take the place of a forgotten one
        self.truths: set[Value] = set()
        self.summed: dict[Value, int] = {}  # what is one number for a row -> the width of what was summed

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """No: torch would import its compiler, a second long, to keep it from reading this."""
        return False

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
        if argument.numel() != 1 or argument.requires_grad or not self.backwards:
            raise NotPointwise(f"a tensor of shape {tuple(argument.shape)} that is no argument")
        return argument.item()

    def number(self, value: Any) -> Any:
        """A truth as 1 or 0, anything else as it is."""
        if value not in self.truths:
            return value
        found = self.operations.add("where", value, 1.0, 0.0)
        if value in self.summed:
            self.summed[found] = self.summed[value]
        return found

    def truth(self, value: Value) -> Value:
        """A number as a truth: whether it is not 0."""
        if value in self.truths:
            return value
        found = self.operations.add("ne", value, 0.0)
        self.truths.add(found)
        if value in self.summed:
            self.summed[found] = self.summed[value]
        return found

    def result(self, tensor: Tensor) -> Value:
        """The value of an output: as wide as its tensor."""
        value = self.number(self.value(tensor))
        if self.summed.get(value, tensor.shape[-1]) != tensor.shape[-1]:
            raise NotPointwise(f"a result of shape (B, {tensor.shape[-1]}) that is summed along a row")
        return value

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        kind, _, overload = str(func).removeprefix("aten.").partition(".")
        if kind in FILLED:
            at = FILLED[kind]
            return self.take(at if isinstance(at, float) else float(args[-1]), func(*args, **kwargs))
        if kind in LIFTED:
            return self.take(args[0].item() if args[0].numel() == 1 else self.value(args[0]), func(*args, **kwargs))
        plain = kind if kind.startswith("__") or kind == "copy_" else kind.removesuffix("_")
        if plain in KNOWN:
            given = [a for a in (*args, *kwargs.values()) if isinstance(a, Tensor)]
            known = [(self.value(a), a.shape) for a in given]  # in place, a tensor is about to get another value
            found = self._note(plain, args, kwargs)
            result = self.take(found, func(*args, **kwargs))
            self._check_widths(plain, known, found, result)
            return result
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
            return ROWWISE[kind](self.operations, self.number(self.value(args[0])), *args[1:], **kwargs)
        values = [self.value(argument) for argument in args]
        if kind == "_to_copy":
            return self._cast(values[0], kwargs.get("dtype"))
        if kind in SAME:
            return values[0]
        if kind in TRUTHS:
            return self._truth(kind, values)
        if kind == "where":
            return self.operations.add(kind, self.truth(values[0]), *map(self.number, values[1:]))
        if kind == "masked_fill":
            return self.operations.add("where", self.truth(values[1]), self.number(values[2]), self.number(values[0]))
        values = [self.number(value) for value in values]
        if kind in SPECIAL:
            named = {k: self.number(self.value(v)) for k, v in kwargs.items()}
            return SPECIAL[kind](self.operations, *values, **named)
        if kwargs:
            raise NotPointwise(f"{kind} with {', '.join(kwargs)}")
        return self.operations.add(POINTWISE[kind], *values)

    def _truth(self, kind: str, values: list[Value]) -> Value:
        if kind in LOGIC:
            found = self.operations.add(LOGIC[kind], *map(self.truth, values))
        else:
            found = self.operations.add(kind, *map(self.number, values))
        self.truths.add(found)
        return found

    def _cast(self, value: Value, dtype: torch.dtype | None) -> Value:
        if dtype == torch.bool:
            return self.truth(value)
        if dtype not in (None, torch.float32):
            raise NotPointwise(f"a cast to {dtype}")
        return self.number(value)

    def _check_widths(self, kind: str, given: list[tuple[Value, torch.Size]], found: Value, result: Tensor) -> None:
        """Tells what is one number for a row from what is as wide as the result; anything else has no fused form."""
        if kind in ROWWISE:
            self.summed[found] = given[0][1][-1]
            return
        wide = [shape for value, shape in given if isinstance(value, str) and value not in self.summed]
        sums = {self.summed[value] for value, _ in given if value in self.summed}
        if any(shape != result.shape for shape in wide) or len(sums) > 1 or (sums and wide and sums != {wide[0][-1]}):
            shapes = ", ".join(str(tuple(shape)) for _, shape in given)
            raise NotPointwise(f"{kind} of the shapes {shapes}")
        if sums and not wide and isinstance(found, str):
            self.summed[found] = sums.pop()


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


def _sign(operations: Operations, a: Value) -> Value:
    above, below = operations.add("gt", a, 0.0), operations.add("lt", a, 0.0)
    return operations.add("where", above, 1.0, operations.add("where", below, -1.0, 0.0))


def _reduce(kind: str) -> Callable[..., Value]:
    def reduce(operations: Operations, a: Value, axes: Sequence[int] = (), keep: bool = False, **given: Any) -> Value:
        if given:
            raise NotPointwise(f"{kind} with {', '.join(given)}")
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
}
LOGIC = {
    "logical_and": "and",
    "bitwise_and": "and",
    "logical_or": "or",
    "bitwise_or": "or",
    "logical_not": "not",
    "bitwise_not": "not",
    "__and__": "and",
    "__or__": "or",
}
TRUTHS = {"eq", "ne", "lt", "le", "gt", "ge", *LOGIC}
SAME = {"detach", "alias", "clone", "_to_copy", "to", "expand", "view", "squeeze", "unsqueeze"}
LIFTED = {"lift_fresh_copy", "lift_fresh"}  # of numbers that the code makes a tensor of
FILLED = {
    "ones_like": 1.0,
    "zeros_like": 0.0,
    "empty_like": 0.0,  # about to be filled
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
    "lerp": lambda operations, a, b, w: _add(operations, a, operations.add("mul", w, _sub(operations, b, a))),
    "sign": lambda operations, a: _sign(operations, a),
    "sgn": lambda operations, a: _sign(operations, a),
}
ROWWISE: dict[str, Callable[..., Any]] = {"sum": _reduce("sum"), "mean": _reduce("mean"), "amax": _reduce("max")}
KNOWN = {*SAME, *POINTWISE, *SPECIAL, *ROWWISE, *TRUTHS, "where", "masked_fill"}
