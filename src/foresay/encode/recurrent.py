"""Recurrent encoder: layers of one kind of cell, one or both ways through time.

    y^0 = x;   y^l_t, s^l_t = cell_l(y^{l-1}_t, s^l_{t-1})      dropout on every y^l

Both ways: a second cell reads each row from its last real step to its first; the two halves of y stand side by side,
forwards first, each H/2 wide. Such an encoder's state is for reading (a decoder's beginning), not for going on from.

x (B, T, D) -> y (B, T, H), zero where masked; state {"position": (B,), "0": {"h": (B, H), ...}, "1": ...}.
"""

from __future__ import annotations

from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.encode.cells.cell import Cell, Memory
from foresay.encode.encoder import Encoder, State, advance
from foresay.encode.segments import find_cuts, flip, flip_starts, run_segments
from foresay.errors import UserError
from foresay.parts import Share, Size, anew, part


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
    ) -> None:
        super().__init__()
        if bidirectional and size % 2:
            raise UserError(f"size={size} is odd; a bidirectional encoder halves it: pass an even number")
        self.width, self.dropout = size, dropout
        self.bidirectional, self.causal = bidirectional, not bidirectional
        self.forwards = cast("list[Cell]", nn.ModuleList(anew(cell) for _ in range(layers)))
        self.backwards = cast("list[Cell]", nn.ModuleList(anew(cell) for _ in range(layers if bidirectional else 0)))

    def build(self, in_width: int) -> None:
        size = self.width // 2 if self.bidirectional else self.width
        for layer, cell in enumerate([*self.forwards, *self.backwards]):
            first = layer % len(self.forwards) == 0
            cell.build(in_width if first else self.width, size)

    def begin(self, rows: int, capacity: int | None = None) -> State:
        return self._begin(self.forwards[0].weight_hh.detach().new_empty(rows, 0))

    def _begin(self, like: Tensor) -> State:
        state: State = {"position": torch.zeros(len(like), dtype=torch.long, device=like.device)}
        for layer, cell in enumerate(self.forwards):
            memory = cell.begin(like)
            state[str(layer)] = join(memory, memory) if self.bidirectional else memory
        return state

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        state: State | None = None,
        *,
        starts: Tensor | None = None,
        condition: Tensor | None = None,
    ) -> tuple[Tensor, State]:
        self.admit(state, condition)
        outputs, state = self._run(x, mask, state, starts)
        return outputs[-1], state

    def layers(
        self, x: Tensor, mask: Tensor | None = None, state: State | None = None, *, starts: Tensor | None = None
    ) -> list[Tensor]:
        self.admit(state)
        return self._run(x, mask, state, starts)[0]

    def _run(
        self, x: Tensor, mask: Tensor | None, state: State | None, starts: Tensor | None
    ) -> tuple[list[Tensor], State]:
        """Every layer's output, and the state after."""
        if starts is not None and mask is not None:
            starts = starts & mask
        before = self._begin(x) if state is None else state
        after: State = {"position": advance(before["position"], x.shape[1], mask)}
        cuts = find_cuts(x.shape[1], mask, starts)
        outputs = []
        for layer, cell in enumerate(self.forwards):
            key = str(layer)
            y, after[key] = run_segments(cell, x, before[key] if self.causal else cell.begin(x), mask, starts, cuts)
            if self.bidirectional:
                y_back, memory = run_backwards(self.backwards[layer], x, mask, starts)
                y, after[key] = torch.cat([y, y_back], 2), join(after[key], memory)
            x = F.dropout(y, self.dropout, self.training)
            outputs.append(x)
        return outputs, after


def run_backwards(cell: Cell, x: Tensor, mask: Tensor | None, starts: Tensor | None) -> tuple[Tensor, Memory]:
    """A cell from each row's last real step to its first; y stands where its x stood."""
    starts = None if starts is None else flip_starts(starts, mask)
    cuts = find_cuts(x.shape[1], mask, starts)
    y, memory = run_segments(cell, flip(x, mask), cell.begin(x), mask, starts, cuts)
    return flip(y, mask), memory


def join(one: Memory, other: Memory) -> Memory:
    """The states of two directions side by side."""
    return {name: torch.cat([one[name], other[name]], 1) for name in one}
