"""Time shortcuts (lecture 002): a step also sees the state s steps before it; any cell.

    x_t W + h_{t-1} U + b  becomes  x_t W + h_{t-1} U + h_{t-s} V + b       for every gate that sees h

Error then passes s steps back at once. The memory holds the last s states: h (B, H) and `past` (B, s-1, H), the oldest
first; before the first step they are zeros. Around a cell with a state `past` of its own it is called `past__h`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

import torch
from annotated_types import Ge
from torch import Tensor, nn

from foresay.encode.cells.cell import Cell, Memory, weight_name
from foresay.encode.cells.changed import Changed, sees_h
from foresay.errors import UserError
from foresay.kernels.recurrent.maths import Maths, delay
from foresay.kernels.recurrent.plain import Inputs
from foresay.parts import part


@part("cell", "shortcut")
class Shortcut(Changed):
    """Any cell whose gates also see the state some steps before the last one."""

    def __init__(self, *, cell: Cell | str = "lstm", steps: Annotated[int, Ge(2)] = 4) -> None:
        super().__init__(cell)
        self.steps, self.source = steps, f"state:h@{steps}"
        self.past = "past__h" if "past" in self.states else "past"

    def build(self, in_width: int, size: int) -> None:
        super().build(in_width, size)
        rows, width = self.maths.columns(self.maths.sources[self.source]), self.maths.widths["state:h"]
        weight = torch.empty(rows, width).uniform_(-(size**-0.5), size**-0.5)
        self.register_parameter(weight_name(self.source), nn.Parameter(weight))

    def change(self, maths: Maths) -> Maths:
        self.needs_h(maths)
        if self.source in maths.sources:
            raise UserError(f"cell shortcut: steps={self.steps} twice, one around the other; allowed: another number")
        sees = {gate: (*old, self.source) if sees_h(old) else old for gate, old in maths.sees.items()}
        self.reach = max(delay(source) for source in (*maths.sources, self.source))
        return self.changed(maths, sees=sees)

    def begin(self, like: Tensor) -> Memory:
        past = like.new_zeros(like.shape[0], self.reach - 1, self.maths.widths["state:h"])
        return {**self.cell.begin(like), self.past: past}

    def products(self) -> dict[str, Tensor]:
        return {self.source: self.get_parameter(weight_name(self.source))}

    def changed_inputs(self, inputs: Inputs, memory: Memory) -> Inputs:
        h = inputs.states["h"]
        if h.dim() == 2:  # else a shortcut inside this one has done it
            h = torch.cat([memory[self.past], h[:, None]], 1)
        products = {**inputs.products, **self.products()}
        return replace(inputs, states={**inputs.states, "h": h}, products=products)

    def memory_after(self, states: Mapping[str, Tensor]) -> Memory:
        h = states["h"]
        if h.dim() == 2:
            return super().memory_after(states)
        return super().memory_after({**states, "h": h[:, -1]}) | {self.past: h[:, :-1]}
