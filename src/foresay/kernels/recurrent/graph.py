"""A phase as a list of pointwise operations, forwards and its derivative, read off the cell's own code by torch.fx.

The operations are single assignments `name = operation(arguments)`; equal ones are computed once, and what nothing
needs is left out. Numba and Triton both write them as Python, so one list serves both.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, fx
from torch.fx.experimental.proxy_tensor import make_fx

ROWS = 2  # of the tensors a phase is traced with: only their widths matter

Value = str | float  # the name of an operation's result or of an input, or a number


class NotPointwise(Exception):
    """A phase uses an operation that has no pointwise form here; the plain loop runs it."""


@dataclass(frozen=True)
class Operation:
    name: str
    kind: str
    arguments: tuple[Value, ...]


@dataclass
class Operations:
    """A growing list of operations; `add` returns the name of the result."""

    steps: list[Operation] = field(default_factory=list)
    known: dict[tuple[str, tuple[Value, ...]], str] = field(default_factory=dict)

    def add(self, kind: str, *arguments: Value) -> Value:
        simple = _simplify(kind, arguments)
        if simple is not None:
            return simple
        key = (kind, arguments)
        if key not in self.known:
            self.known[key] = f"v{len(self.steps)}"
            self.steps.append(Operation(self.known[key], kind, arguments))
        return self.known[key]

    def needed(self, results: Iterable[Value]) -> list[Operation]:
        """The operations that the results need, in order."""
        wanted = {value for value in results if isinstance(value, str)}
        kept = []
        for step in reversed(self.steps):
            if step.name in wanted:
                kept.append(step)
                wanted |= {argument for argument in step.arguments if isinstance(argument, str)}
        return kept[::-1]

    def inputs(self, results: Iterable[Value]) -> set[str]:
        """The names of inputs that the results need."""
        own = {step.name for step in self.steps}
        results = list(results)
        used = {a for step in self.needed(results) for a in step.arguments if isinstance(a, str)}
        return (used | {value for value in results if isinstance(value, str)}) - own


def forward_graph(run: Callable[..., tuple[Tensor, ...]], widths: Sequence[int]) -> fx.Graph:
    """The operations of a phase whose inputs are this wide."""
    return _trace(run, [torch.rand(ROWS, width) for width in widths])


def derivative_graph(run: Callable[..., tuple[Tensor, ...]], widths: Sequence[int]) -> fx.Graph:
    """The operations of a phase's derivative: inputs and a gradient for each output -> a gradient for each input."""
    inputs = [torch.rand(ROWS, width) for width in widths]

    def pull_back(*values: Tensor) -> tuple[Tensor | None, ...]:
        given = [value.detach().requires_grad_() for value in values[: len(inputs)]]
        results = zip(run(*given), values[len(inputs) :], strict=True)
        through = [(result, grad) for result, grad in results if result.requires_grad]
        return torch.autograd.grad(
            [result for result, _ in through], given, [grad for _, grad in through], allow_unused=True
        )

    with torch.enable_grad():
        return _trace(pull_back, [*inputs, *(torch.rand_like(output) for output in run(*inputs))])


def _trace(function: Callable[..., Any], examples: list[Tensor]) -> fx.Graph:
    from torch._decomp import core_aten_decompositions

    table: Any = core_aten_decompositions()
    try:
        module = make_fx(function, decomposition_table=table)(*examples)
    except RuntimeError as error:
        if "tracing tensor" not in str(error):
            raise
        raise NotPointwise("a branch that depends on a value (torch.where chooses without one)") from None
    module.graph.eliminate_dead_code()
    for node in module.graph.nodes:
        if node.op == "get_attr":
            constant = getattr(module, node.target)
            if isinstance(constant, torch.nn.Parameter) or constant.requires_grad or constant.numel() != 1:
                raise NotPointwise(f"a tensor of shape {tuple(constant.shape)} that is no argument")
            node.meta["number"] = float(constant)
    return module.graph


def inline(operations: Operations, graph: fx.Graph, inputs: Sequence[Value]) -> list[Value | None]:
    """Adds a traced graph with these inputs; its results in order, None where there is none."""
    values: dict[fx.Node, Any] = {}
    given = iter(inputs)
    for node in graph.nodes:
        if node.op == "placeholder":
            values[node] = next(given)
        elif node.op == "get_attr":
            values[node] = node.meta["number"]
        elif node.op == "output":
            return [None if result is None else _look_up(values, result) for result in _flat(node.args[0])]
        elif str(node.target).startswith("aten.copy_."):  # in place: whoever reads it later reads the new value
            target, value = node.args[0], _look_up(values, node.args[1])
            assert isinstance(target, fx.Node)
            values[node] = values[target] = value
        else:
            values[node] = _operation(operations, node, values)
    raise AssertionError("a graph without output")


def _flat(results: Any) -> list[Any]:
    return list(results) if isinstance(results, list | tuple) else [results]


def _look_up(values: dict[fx.Node, Any], argument: Any) -> Any:
    return values[argument] if isinstance(argument, fx.Node) else argument


def _operation(operations: Operations, node: fx.Node, values: dict[fx.Node, Any]) -> Any:
    name = str(node.target).removeprefix("aten.")
    kind, _, overload = name.partition(".")
    arguments = [_look_up(values, argument) for argument in node.args]
    options = {key: _look_up(values, argument) for key, argument in node.kwargs.items()}
    if kind in SAME:
        return arguments[0]
    if kind in FILLED:
        return float(FILLED[kind] if FILLED[kind] is not None else arguments[-1])
    if kind in SPECIAL:
        return SPECIAL[kind](operations, *arguments, **options)
    if kind not in POINTWISE:
        raise NotPointwise(f"{kind}.{overload}" if overload else kind)
    return operations.add(POINTWISE[kind], *(float(a) if isinstance(a, bool | int) else a for a in arguments))


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
    "sum": _reduce("sum"),
    "mean": _reduce("mean"),
    "amax": _reduce("max"),
}


def _simplify(kind: str, arguments: tuple[Value, ...]) -> Value | None:
    """The result where it needs no operation: numbers alone, and what 0 and 1 do."""
    if kind in EXACT and all(isinstance(a, float) for a in arguments):
        return float(EXACT[kind](*arguments))
    if kind == "mul":
        if 0.0 in arguments:
            return 0.0
        if 1.0 in arguments:
            return arguments[1] if arguments[0] == 1.0 else arguments[0]
    if kind == "add" and 0.0 in arguments:
        return arguments[1] if arguments[0] == 0.0 else arguments[0]
    if kind == "sub" and arguments[1] == 0.0:
        return arguments[0]
    if kind == "div" and arguments[1] == 1.0:
        return arguments[0]
    return None


EXACT = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "sqrt": math.sqrt,
}
