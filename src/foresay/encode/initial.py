"""How a recurrent encoder begins: its state before the first step, and its recurrent weights before training.

    state      zero; learnt: parameters that begin at zero; condition: s = c W + b from a vector c (B, C)
    weights    of every gate's U: uniform within 1/sqrt(H); orthogonal; identity
    radius     U is scaled so that its greatest |eigenvalue| is this: 1 neither shrinks nor blows up what passes
    bound      every matrix, the inputs' too, is uniform within this instead of 1/sqrt(H)

A state that is given (`forward(..., state=...)`) takes the place of all of them; where a document starts they return.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, cast

import torch
from torch import Tensor, nn

from foresay.encode.cells.cell import Cell, Memory
from foresay.errors import UserError
from foresay.parts import Rate, Size


@dataclass(frozen=True)
class Initial:
    """`condition` is the width C of the vector that the state is computed from."""

    state: Literal["zero", "learnt", "condition"] = "zero"
    condition: Size | None = None
    weights: Literal["uniform", "orthogonal", "identity"] = "uniform"
    radius: Rate | None = None
    bound: Rate | None = None

    def check(self) -> None:
        if (self.state == "condition") != (self.condition is not None):
            raise UserError(
                f"initial.state={self.state} with initial.condition={self.condition}; "
                "allowed: state=condition and the width of the condition, or neither"
            )
        if self.bound is not None and self.weights != "uniform":
            raise UserError(
                f"initial.bound={self.bound} with initial.weights={self.weights}; allowed: bound with weights=uniform"
            )


class FirstStates(nn.Module):
    """The states before the first step of every cell of an encoder, in the order of its cells."""

    def __init__(self, kind: str, condition: int | None) -> None:
        super().__init__()
        self.kind, self.condition = kind, condition
        self.learnt = cast("list[nn.ParameterDict]", nn.ModuleList())
        self.computed = cast("list[nn.Linear]", nn.ModuleList())

    def build(self, cells: list[Cell]) -> None:
        for cell in cells:
            zeros = cell.begin(torch.zeros(1, 0))
            if self.kind == "learnt":
                self.learnt.append(nn.ParameterDict({name: nn.Parameter(state[0]) for name, state in zeros.items()}))
            if self.condition is not None:
                self.computed.append(nn.Linear(self.condition, sum(state.numel() for state in zeros.values())))

    def admit(self, condition: Tensor | None, *, begins: bool, rows: int | None = None) -> None:
        """Refuses a condition that cannot be used, or none where one is needed because something begins."""
        if self.condition is None:
            if condition is not None:
                raise UserError("encoder recurrent takes no condition; set encoder.initial.state=condition")
            return
        if condition is None and begins:
            raise UserError(f"encoder recurrent begins from a condition; pass condition (B, {self.condition})")
        if condition is not None and (condition.dim() != 2 or condition.shape[1] != self.condition):
            raise UserError(
                f"condition is {tuple(condition.shape)}; allowed: (B, {self.condition}), as initial.condition says"
            )
        if condition is not None and rows is not None and len(condition) != rows:
            raise UserError(
                f"condition has {len(condition)} rows and x has {rows}; pass condition ({rows}, {self.condition})"
            )

    def begin(self, index: int, cell: Cell, like: Tensor, condition: Tensor | None = None) -> Memory:
        """The states of one cell for the rows, dtype and device of `like` (B, ...)."""
        zeros = cell.begin(like)
        if self.learnt:
            learnt = self.learnt[index]
            return {name: learnt[name].to(zero.dtype).expand_as(zero) for name, zero in zeros.items()}
        if condition is None:
            return zeros
        parts = self.computed[index](condition).split([math.prod(zero.shape[1:]) for zero in zeros.values()], 1)
        return {
            name: part.to(zero.dtype).view_as(zero) for (name, zero), part in zip(zeros.items(), parts, strict=True)
        }


@torch.no_grad()
def begin_weights(cell: Cell, initial: Initial) -> None:
    """The recurrent matrices of a built cell and of the cells inside it, gate by gate; with a bound all matrices."""
    if initial.bound is not None:
        for weight in cell.parameters():
            if weight.dim() == 2:
                weight.uniform_(-initial.bound, initial.bound)
    if initial.weights == "uniform" and initial.radius is None:
        return
    cells = [inner for inner in cell.modules() if isinstance(inner, Cell)]
    for inner in cells:
        for source, weight in inner.products().items():
            widths = [inner.maths.widths[f"gate:{gate}"] for gate in inner.maths.sources[source]]
            for block in weight.split(widths):
                _begin_block(block, initial, inner.maths.cell)


def _begin_block(block: Tensor, initial: Initial, cell: str) -> None:
    rows, columns = block.shape
    if rows != columns and (initial.radius is not None or initial.weights == "identity"):
        setting = "weights=identity" if initial.weights == "identity" else f"radius={initial.radius}"
        raise UserError(
            f"initial.{setting} needs square recurrent matrices and cell {cell} has one of {rows} x {columns}; "
            "allowed: initial.weights=uniform or orthogonal, without a radius"
        )
    if initial.weights == "orthogonal":
        nn.init.orthogonal_(block)
    elif initial.weights == "identity":
        nn.init.eye_(block)
    if initial.radius is not None:
        block.mul_(initial.radius / spectral_radius(block))


def spectral_radius(matrix: Tensor) -> float:
    """The greatest |eigenvalue|."""
    return torch.linalg.eigvals(matrix.double()).abs().max().item()
