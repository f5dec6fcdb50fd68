"""A cell around a cell: what every modifier keeps. It changes the inner cell's maths and what the engine reads for it.

The engine runs the changed maths as it runs any other, so a modifier has no loop of its own, costs one pointwise kernel
less than it seems to, and nests with others in any order: zoneout around layer norm around a peephole LSTM. The inner
cell's weights keep their names, below `cell.`.

x (B, T, D) -> y (B, T, H) and the states are the inner cell's.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from foresay.encode.cells.cell import Cell, Memory
from foresay.errors import UserError
from foresay.kernels.recurrent.maths import Maths
from foresay.kernels.recurrent.names import KEPT
from foresay.kernels.recurrent.plain import Inputs
from foresay.parts import anew


class Changed(Cell):
    """A modifier says how it changes the maths (`change`) and the inputs (`changed_inputs`)."""

    def __init__(self, cell: Cell | str) -> None:
        super().__init__()
        assert isinstance(cell, Cell)
        self.cell: Cell = anew(cell)
        self.states = self.cell.states

    @property
    def core(self) -> Cell:
        """The cell inside all modifiers."""
        return self.cell.core if isinstance(self.cell, Changed) else self.cell

    def build(self, in_width: int, size: int) -> None:
        self.cell.build(in_width, size)
        self.size, self.width = size, self.cell.width
        self.maths = self.change(self.cell.maths)

    def change(self, maths: Maths) -> Maths:
        """The inner cell's maths, changed."""
        return maths

    def changed_inputs(self, inputs: Inputs, memory: Memory) -> Inputs:
        """What the engine reads for the inner cell, changed; `memory` is all that is carried."""
        return inputs

    def idle(self) -> bool:
        """Whether nothing is changed now, so that the inner cell runs as it does alone."""
        return False

    def begin(self, like: Tensor) -> Memory:
        return self.cell.begin(like)

    def products(self) -> dict[str, Tensor]:
        """Those it adds itself."""
        return {}

    def memory_after(self, states: Mapping[str, Tensor]) -> Memory:
        return self.cell.memory_after(states)

    def inputs(self, x: Tensor, memory: Memory, mask: Tensor | None) -> Inputs:
        return self.changed_inputs(self.cell.inputs(x, memory, mask), memory)

    def run(self, x: Tensor, memory: Memory, mask: Tensor | None = None) -> tuple[Tensor, Memory]:
        return self.cell.run(x, memory, mask) if self.idle() else super().run(x, memory, mask)

    def trace(
        self, x: Tensor, memory: Memory, mask: Tensor | None = None, names: tuple[str, ...] | None = None
    ) -> tuple[dict[str, Tensor], Memory]:
        whole = self.cell.trace if self.idle() else super().trace
        return whole(x, memory, mask, names)

    def changed(self, maths: Maths, **new: Any) -> Maths:
        """`maths` with some fields new, under the modifier's name."""
        name = getattr(self, "part_name", type(self).__name__)
        return dataclasses.replace(maths, cell=f"{name}({maths.cell})", derived={}, **new)

    def needs_h(self, maths: Maths) -> None:
        """Refuses a cell in which there is nothing to change: no gate sees h."""
        if not any(sees_h(sources) for sources in maths.sees.values()):
            name = getattr(self, "part_name", type(self).__name__)
            raise UserError(
                f"cell {name} around {maths.cell}, where no gate sees h; allowed: a cell with a product h U"
            )


def sees_h(sources: tuple[str, ...]) -> bool:
    """Whether a gate sees the state just before the step, whole or masked."""
    return "state:h" in sources or f"state:{KEPT}" in sources


def draw_kept(share: float, shape: tuple[int, ...], like: Tensor) -> Tensor:
    """1 where a unit is kept, 0 for a share of them; the same draw whatever the dtype of `like`."""
    if like.device.type != "cpu":
        return torch.empty(shape, device=like.device).bernoulli_(1 - share).to(like.dtype)
    # a CPU draws numbers one after the other: one of 64 bits does for four units, the share to 1/65536
    count = math.prod(shape)
    bits = torch.empty(-(-count // 4), dtype=torch.int64).random_(-(2**63), None).view(torch.int16)[:count]
    return (bits >= round(share * 65536) - 32768).view(shape).to(like.dtype)
