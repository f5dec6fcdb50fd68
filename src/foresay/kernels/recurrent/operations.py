"""Pointwise maths as a list of operations: single assignments `name = kind(arguments)`.

Equal ones are computed once, what 0 and 1 do is done at once, and what nothing needs is left out.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from dataclasses import dataclass, field

Value = str | float  # the name of an operation's result or of an input, or a number


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
