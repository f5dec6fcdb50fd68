"""Recurrent encoder: layers of cells, one or both ways through time.

    z^0 = x;   y^l_t, s^l_t = cell_l(z^{l-1}_t, s^l_{t-1});   z^l = dropout(y^l), joined to those below as `wiring` says

Both ways: a second cell reads each row from its last real step to its first; the two halves of y stand side by side,
forwards first, each from a cell of H/2. Such an encoder's state is for reading (a decoder's beginning), not for going
on from. H is `size`, or what a cell that projects its output makes of it.

x (B, T, D) -> y (B, T, H), zero where masked; state {"position": (B,), "0": {"h": (B, H), ...}, "1": ...}.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from foresay.embed.dropout import drop
from foresay.encode.cells.cell import Cell, Memory
from foresay.encode.encoder import Encoder, State, advance, with_rest
from foresay.encode.initial import FirstStates, Initial, begin_weights
from foresay.encode.segments import Found, Read, Rows, find_cuts, read_all, read_output, run_backwards, run_segments
from foresay.encode.wiring import Kind, Wiring
from foresay.errors import UserError
from foresay.kernels.overlap import overlap
from foresay.parts import Share, Size, anew, part


@dataclass(frozen=True)
class Between:
    """What happens between layers: how they are joined, and whether dropout has one mask for all steps of a row."""

    wiring: Kind = "none"
    locked: bool = False


@part("encoder", "recurrent")
class Recurrent(Encoder):
    """Layers of recurrent cells, one way or both ways."""

    def __init__(
        self,
        *,
        cell: Cell | str = "lstm",
        size: Size = 256,
        layers: Size = 1,
        bidirectional: bool = False,
        dropout: Share = 0.0,
        cells: list[Cell | str] | None = None,
        between: Between = Between(),  # noqa: B008 - frozen
        initial: Initial = Initial(),  # noqa: B008 - frozen
    ) -> None:
        super().__init__()
        if bidirectional and size % 2:
            raise UserError(f"size={size} is odd; a bidirectional encoder halves it: pass an even number")
        each = one_for_each_layer(cell, layers, cells)
        initial.check()
        self.size = self.width = size
        self.dropout, self.locked, self.initial = dropout, between.locked, initial
        self.bidirectional, self.halves, self.causal = bidirectional, bidirectional, not bidirectional
        self.forwards = cast("list[Cell]", nn.ModuleList(anew(one) for one in each))
        self.backwards = cast("list[Cell]", nn.ModuleList(anew(one) for one in each if bidirectional))
        self.wiring = Wiring(between.wiring, len(each))
        self.first = FirstStates(initial.state, initial.condition)

    def build(self, in_width: int) -> None:
        ways = 2 if self.bidirectional else 1
        size, widths = self.size // ways, []
        self.wiring.build(in_width)
        for cell in self.forwards:
            widths.append(self.wiring.in_width)
            cell.build(widths[-1], size)
            self.wiring.add(ways * cell.width)
        for cell, width in zip(self.backwards, widths, strict=False):
            cell.build(width, size)
        self.width = self.wiring.widths[-1]
        self.first.build([*self.forwards, *self.backwards])
        for cell in (*self.forwards, *self.backwards):
            begin_weights(cell, self.initial)

    def admit(
        self,
        state: State | None,
        condition: Tensor | None = None,
        *,
        rows: int | None = None,
        starts: Tensor | None = None,
    ) -> None:
        super().admit(state, rows=rows)  # torch's functions and fused loops would read past the end of a wrong one
        self.first.admit(condition, begins=state is None or starts is not None, rows=rows)

    def begin(self, rows: int, capacity: int | None = None) -> State:
        self.first.admit(None, begins=True)
        return self._begin(next(self.parameters()).detach().new_empty(rows, 0), None)

    def outline(self) -> State:
        return self._begin(next(self.parameters()).detach().new_empty(1, 0), None)

    def _begin(self, like: Tensor, condition: Tensor | None) -> State:
        state: State = {"position": torch.zeros(like.shape[0], dtype=torch.long, device=like.device)}
        for layer in range(len(self.forwards)):
            memory = self._first(layer, like, condition)
            back = self._first(layer, like, condition, back=True) if self.bidirectional else None
            state[str(layer)] = memory if back is None else join(memory, back)
        return state

    def _first(self, layer: int, like: Tensor, condition: Tensor | None, *, back: bool = False) -> Memory:
        cell = (self.backwards if back else self.forwards)[layer]
        return self.first.begin(layer + back * len(self.forwards), cell, like, condition)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        state: State | None = None,
        *,
        starts: Tensor | None = None,
        condition: Tensor | None = None,
    ) -> tuple[Tensor, State]:
        outputs, state, _ = self._run(x, mask, state, starts, condition)
        return outputs[-1], state

    def layers(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        state: State | None = None,
        *,
        starts: Tensor | None = None,
        condition: Tensor | None = None,
    ) -> list[Tensor]:
        return self._run(x, mask, state, starts, condition)[0]

    def by_layer(self) -> list[list[nn.Parameter]]:
        ways = [self.forwards, self.backwards] if self.bidirectional else [self.forwards]
        return with_rest(self, list(zip(*ways, strict=True)))

    def trace(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        state: State | None = None,
        *,
        starts: Tensor | None = None,
        condition: Tensor | None = None,
    ) -> dict[str, Tensor]:
        """Every gate and state of every step: `0.f` (B, T, H) is f in the lowest layer, `0.f.back` read backwards."""
        return self._run(x, mask, state, starts, condition, read_all)[2]

    def _run(
        self,
        x: Tensor,
        mask: Tensor | None,
        state: State | None,
        starts: Tensor | None,
        condition: Tensor | None,
        read: Read = read_output,
    ) -> tuple[list[Tensor], State, Found]:
        """Every layer's output, the state after, and what is read of every cell."""
        self.admit(state, condition, rows=x.shape[0], starts=starts)
        if starts is not None and mask is not None:
            starts = starts & mask
        rows = Rows(mask, starts, find_cuts(x.shape[1], starts))
        before = self._begin(x, condition) if state is None else state
        after: State = {"position": advance(before["position"], x.shape[1], mask)}
        seen, found = [x], {}
        for layer in range(len(self.forwards)):
            below = self.wiring.enter(seen)
            y, after[str(layer)], named = self._layer(layer, below, before[str(layer)], rows, condition, read)
            seen.append(self.wiring.leave(layer, below, drop(y, self.dropout, self.training, locked=self.locked), mask))
            found |= {f"{layer}.{name}": value for name, value in named.items()}
        return seen[1:], after, found

    def _layer(
        self, layer: int, x: Tensor, memory: Memory, rows: Rows, condition: Tensor | None, read: Read
    ) -> tuple[Tensor, Memory, Found]:
        """One layer's y, its states after, and what is read of its cells."""
        begins = rows.starts is not None or self.bidirectional
        first = self._first(layer, x, condition) if begins else memory
        if not self.bidirectional:
            found, memory = run_segments(self.forwards[layer], x, memory, first, rows, read)
            return found["h"], memory, found
        first_back = self._first(layer, x, condition, back=True)
        (found, memory), (back, memory_back) = overlap(
            lambda: run_segments(self.forwards[layer], x, first, first, rows, read),
            lambda: run_backwards(self.backwards[layer], x, first_back, rows, read),
            x.device,
            lambda result: [*result[0].values(), *result[1].values()],
        )
        y = torch.cat([found["h"], back["h"]], 2)
        return y, join(memory, memory_back), found | {f"{name}.back": value for name, value in back.items()}


def one_for_each_layer(cell: Cell | str, layers: int, cells: list[Cell | str] | None) -> list[Cell | str]:
    """The cells of a stack from below, as the settings say: one kind for all, or one for each."""
    if cells is None:
        return [cell] * layers
    if layers not in (1, len(cells)):
        raise UserError(f"layers={layers}, but cells has {len(cells)}: leave layers out, or give as many cells")
    return cells


def join(one: Memory, other: Memory) -> Memory:
    """The states of two directions side by side."""
    return {name: torch.cat([one[name], other[name]], -1) for name in one}
