"""What every recurrent cell keeps: the maths of one step, stated once; the engine runs it over time.

A cell names its states and gates and writes its step. The value of a gate is x W + h U + b, all of it computed before
the step sees it, so the step is pointwise maths alone:

    class Leaky(Cell):
        gates = ("leak", "new")

        def step(self, leak, new, h):
            leak = leak.sigmoid()
            return {"h": h + leak * (new.tanh() - h), "leak": leak}

The arguments say what is read: gates, states before the step, and `vectors` (parameters, one number for each unit).
What is returned under a state's name is the state after the step; anything else is a value that `trace` can show.

Where a gate sees something else than h, or sees what the step itself has computed, the step is written in stages, and
`new_c` is the state c after the step:

        @stage(i="h c", f="h c", g="h")
        def remember(self, i, f, g, c): ...

        @stage(o="h new_c")
        def show(self, o, new_c): ...

x (B, T, D) -> y (B, T, H), the states called h; each state (B, H). weight_ih (columns of the gates that see x, D),
weight_hh (columns of the gates that see h, H), and so on for other sources.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from foresay.errors import UserError
from foresay.kernels.product import product
from foresay.kernels.recurrent.engine import run
from foresay.kernels.recurrent.maths import Maths, Method, Returned, read_maths
from foresay.kernels.recurrent.names import EXAMPLE, check_names, method_of
from foresay.kernels.recurrent.plain import Inputs
from foresay.parts import Part

Memory = dict[str, Tensor]  # the cell's states by name, each (B, H)


def stage(*bare: Callable[..., Any], **sees: str | Sequence[str]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Marks a method as a stage: for each of its gates the names, apart by blanks, of what the gate sees besides x."""
    for method in bare:
        raise UserError(
            f"@stage on {getattr(method, '__name__', method)} has no brackets; say what its gates see, "
            "as @stage(o='h'), or @stage() if it completes none"
        )
    split = {gate: _names_seen(gate, names) for gate, names in sees.items()}

    def mark(method: Callable[..., Returned]) -> Callable[..., Returned]:
        method.sees = split  # pyright: ignore[reportFunctionMemberAccess]
        return method

    return mark


def _names_seen(gate: str, names: Any) -> tuple[str, ...]:
    listed = names.split() if isinstance(names, str) else names
    if not isinstance(listed, (list, tuple)) or not all(isinstance(name, str) for name in listed):
        raise UserError(f"@stage({gate}={names!r}); allowed: names apart by blanks, as {gate}='h c'")
    return tuple(listed)


class Cell(Part, nn.Module):
    """`build(in_width, size)` makes the parameters; `run` reads whole sequences."""

    part_kind = "cell"
    states: tuple[str, ...] = ("h",)
    gates: tuple[str, ...] = ()
    unfed: tuple[str, ...] = ()  # gates that do not see x
    vectors: tuple[str, ...] = ()  # pointwise parameters
    biased = True  # every gate that sees x has a bias
    bias_apart = False  # a cell around this one adds the bias itself
    size: int  # H, known after build
    width: int  # of y, known after build: H unless the cell says otherwise
    maths: Maths  # known after build
    step: Callable[..., Returned]  # of a cell of one stage: gates, states, vectors by name -> states, values by name

    def widths(self) -> Mapping[str, int]:
        """Widths of gates, states and vectors by name that are not H."""
        return {}

    def biases(self) -> Mapping[str, float]:
        """Where the bias of a gate that sees x begins, by its name, if not at 0."""
        return {}

    def build(self, in_width: int, size: int) -> None:
        """Weights uniform within 1/sqrt(H), as torch's; vectors zero, biases as `biases` says."""
        self.size, bound = size, size**-0.5
        self.maths = maths_of(self, in_width)
        _check_matrices(self)
        self.width = self.maths.widths["state:h"]

        def uniform(rows: int, columns: int) -> nn.Parameter:
            return nn.Parameter(torch.empty(rows, columns).uniform_(-bound, bound))

        if self.maths.fed:
            self.weight_ih = uniform(self.maths.columns(self.maths.fed), in_width)
        for source, gates in self.maths.sources.items():
            weight = uniform(self.maths.columns(gates), self.maths.width(source))
            self.register_parameter(weight_name(source), weight)
        self.build_vectors()
        self.bias_ih = nn.Parameter(self._first_bias()) if self.biased and self.maths.fed else None

    def _first_bias(self) -> Tensor:
        fed, begins = self.maths.fed, self.biases()
        if not begins.keys() <= set(fed):
            wrong = next(gate for gate in begins if gate not in fed)
            raise UserError(f"cell {self.part_name}: biases names {wrong}; allowed: gates that see x: {', '.join(fed)}")
        return torch.cat([torch.full((self.maths.widths[f"gate:{g}"],), float(begins.get(g, 0.0))) for g in fed])

    def methods(self) -> list[Method]:
        """The stages: methods marked as such in the order written, or `step` as the only one, where all gates see h."""
        names, cell = [n for n in _in_order(type(self)) if hasattr(getattr(type(self), n), "sees")], self.part_name
        if names:
            return [method_of(cell, name, getattr(self, name), getattr(self, name).sees) for name in names]
        if not hasattr(self, "step"):
            raise UserError(f"cell {cell}: it has no step and no stages; write one, as def {EXAMPLE}")
        return [method_of(cell, "step", self.step, dict.fromkeys(self.gates, ("h",)))]

    def build_vectors(self) -> None:
        for name in self.vectors:
            self.register_parameter(name, nn.Parameter(torch.zeros(self.maths.widths[f"vector:{name}"])))

    def begin(self, like: Tensor) -> Memory:
        """States before the first step: zeros, for the rows, dtype and device of `like` (B, ...)."""
        return {name: like.new_zeros(like.shape[0], self.maths.widths[f"state:{name}"]) for name in self.states}

    def bias(self) -> Tensor | None:
        """What every step adds to the gates that see x."""
        return self.bias_ih

    def vector(self, name: str) -> Tensor:
        """A pointwise parameter by name."""
        return self.get_parameter(name)

    def products(self) -> dict[str, Tensor]:
        """The recurrent matrices by the key of what they multiply: U (columns of the gates that see it, its width)."""
        return {source: self.get_parameter(weight_name(source)) for source in self.maths.sources}

    def memory_after(self, states: Mapping[str, Tensor]) -> Memory:
        """What is carried on, of the states that the engine gives after the last step."""
        return dict(states)

    def inputs(self, x: Tensor, memory: Memory, mask: Tensor | None) -> Inputs:
        """What the engine reads for x (B, T, D); the inputs' share of every gate for all steps in one product."""
        x = x.transpose(0, 1)
        bias = None if self.bias_apart else self.bias()
        fed = product(x, self.weight_ih, bias) if self.maths.fed else x.new_zeros(*x.shape[:2], 0)
        return Inputs(
            fed=fed,
            products=self.products(),
            states={name: memory[name] for name in self.states},
            vectors={key: self.vector(key.split(":")[1]) for key in self.maths.read("vector")},
            steps={"x:x": x} if self.maths.read("x") else {},
            mask=None if mask is None else mask.transpose(0, 1),
            training=self.training,
        )

    def run(self, x: Tensor, memory: Memory, mask: Tensor | None = None) -> tuple[Tensor, Memory]:
        """x (B, T, D), states before -> y (B, T, H), zero where masked, states after."""
        if x.shape[1] == 0:
            return x.new_zeros(x.shape[0], 0, self.width), memory
        kept, after = self.trace(x, memory, mask, ("h",))
        y = kept["h"]
        return y if mask is None else y.masked_fill(~mask[:, :, None], 0), after

    def trace(
        self, x: Tensor, memory: Memory, mask: Tensor | None = None, names: tuple[str, ...] | None = None
    ) -> tuple[dict[str, Tensor], Memory]:
        """States after every step and named values by name, each (B, T, H), and the states after; all unless named."""
        shown = [key for key in self.maths.values() if "__" not in key]  # the others are a modifier's own
        keys = {key.split(":")[1]: key for key in [*shown, *(f"new:{name}" for name in self.states)]}
        wanted = {name: keys[name] for name in (keys if names is None else names)}
        kept, after = run(self.maths, self.inputs(x, memory, mask), tuple(wanted.values()))
        return {name: kept[key].transpose(0, 1) for name, key in wanted.items()}, self.memory_after(after)


def maths_of(cell: Cell, in_width: int) -> Maths:
    """The maths of a cell, read off its class and checked."""
    own = {*dir(cell), *Cell.__annotations__} - cell._parameters.keys()
    own |= {"weight_ih", "weight_hh", "bias_ih", "bias_hh"}
    check_names(cell.part_name, cell.states, cell.gates, cell.unfed, cell.vectors, own)
    widths = {f"gate:{gate}": cell.size for gate in cell.gates} | {f"state:{state}": cell.size for state in cell.states}
    widths |= {f"vector:{vector}": cell.size for vector in cell.vectors} | {"x:x": in_width}
    for name, width in cell.widths().items():
        widths |= {key: width for key in widths if key.split(":")[1] == name}
    fed = tuple(gate for gate in cell.gates if gate not in cell.unfed)
    return read_maths(cell.part_name, cell.states, cell.gates, fed, cell.methods(), widths)


def _check_matrices(cell: Cell) -> None:
    """Refuses what is multiplied under a name by which its matrix would be called like another parameter."""
    used = {name: f"the vector {name}" for name in cell.vectors} | {"weight_ih": "that of x", "weight_hh": "that of h"}
    for source in [key for key in cell.maths.sources if key != "state:h"]:
        weight, name = weight_name(source), source.split(":")[1]
        if weight in used:
            raise UserError(
                f"cell {cell.part_name}: {name} is multiplied by {weight}, which is the name of {used[weight]}; "
                f"give {name} another name"
            )
        used[weight] = f"that of {name}"


def _in_order(cls: type) -> list[str]:
    """The names a class defines, in the order written, its bases' first."""
    return list(dict.fromkeys(name for base in reversed(cls.__mro__) for name in vars(base)))


def weight_name(source: str) -> str:
    """The parameter that multiplies a source: weight_hh for h, weight_c for the state c, weight_h_4 for h@4.

    What a modifier has put in the place of a source, as rh__kept for rh, is multiplied by the same.
    """
    name = source.split(":")[1].split("__")[0].replace("@", "_")
    name = f"new_{name}" if source.startswith("new:") else name
    return "weight_hh" if name == "h" else f"weight_{name}"
