"""Masked convolutions over pictures: PixelCNN and Gated PixelCNN (van den Oord et al. 2016).

A picture is read in raster order, the colours of a pixel one after the other, so what precedes a step is what a text
model has too: any embedding before it, any output after it. `masked_gated.py` and `masked_residual.py` have the
equations, `sight.py` the masks, `grid.py` how steps become rows and columns.

`columns` and `channels` come from the data; a text is given columns by hand and read as rows of so many symbols.

A pass may begin and end anywhere. The state has the rows above, of the picture and of every layer; the row that is
begun is worked out again. Begun with a capacity it also has what the pixels of that row have left behind: then a pixel
costs its own convolutions alone. Where documents begin inside a row of the batch, time is cut there. A condition is of
the whole picture: of one for each step the first counts.

x (B, T, D), c (B, C) or (B, T, C) -> y (B, T, H), zero where masked; state {"position": (B,), "cells":
(B, up + 1, C, K D), "above": (B, layers, rows + 1, C, width)} and, begun with a capacity, "row".
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from foresay.encode.encoder import Encoder, State, advance, map_state, with_rest
from foresay.encode.grid import Pass, windows
from foresay.encode.masked_gated import GatedRows, Shape
from foresay.encode.masked_residual import ResidualRows
from foresay.encode.segments import find_cuts
from foresay.errors import UserError
from foresay.kernels.switch import in_graph
from foresay.parts import Share, Size, part

ROW = "row"  # a state that has this goes on pixel by pixel, in its place


@part("encoder", "masked")
class Masked(Encoder):
    """PixelCNN: masked convolutions over rows and columns, gated or in residual blocks."""

    takes_condition = True

    def __init__(
        self,
        *,
        size: Size = 64,
        layers: Size = 8,
        kernel: Size = 3,
        first: Size = 7,
        block: Literal["gated", "residual"] = "gated",
        dropout: Share = 0.0,
        columns: Size | None = None,
        channels: Size | None = None,
    ) -> None:
        super().__init__()
        for name, value in (("kernel", kernel), ("first", first)):
            if value < 3 or not value % 2:
                raise UserError(f"encoder.{name}={value} has no middle or sees nothing; allowed: 3, 5, 7, ...")
        self.size, self.number, self.kernel, self.first = size, layers, kernel, first
        self.gated, self.dropout, self.columns, self.channels = block == "gated", dropout, columns, channels
        self.width = size

    def build(self, in_width: int) -> None:
        if self.columns is None:
            raise UserError(
                "encoder masked reads pictures, and a text has no columns; set data.kind=images, or encoder.columns=32 "
                "to read it in rows of 32 symbols"
            )
        self.channels = self.channels or 1
        shape = Shape(
            in_width, self.size, self.number, self.kernel, self.first, self.channels, self.dropout, self.condition_width
        )
        self.stack = GatedRows(shape) if self.gated else ResidualRows(shape)
        self.cell = in_width * self.channels

    @property
    def across(self) -> int:
        """How many steps a row of the picture has."""
        assert self.columns is not None and self.channels is not None
        return self.columns * self.channels

    def begin(self, rows: int, capacity: int | None = None) -> State:
        like, columns = next(self.parameters()).detach(), self.columns or 1
        layers, width = self.stack.inner
        state: State = {
            "position": torch.zeros(rows, dtype=torch.long, device=like.device),
            "cells": like.new_zeros(rows, self.stack.up + 1, columns, self.cell),
            "above": like.new_zeros(rows, layers, self.stack.above + 1, columns, width),
        }
        if capacity is not None:
            wide = self.size * (self.channels or 1)
            left, down = (rows, self.number - 1, columns, wide), (rows, self.number, columns, 2 * wide)
            state[ROW] = {"begun": like.new_zeros(rows, 0)}
            if isinstance(self.stack, GatedRows):
                state[ROW] = {"left": like.new_zeros(left), "down": like.new_zeros(down)}
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
        outputs, state = self._run(x, mask, state, starts, condition)
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
        return with_rest(self, self.stack.by_layer())

    def _run(
        self, x: Tensor, mask: Tensor | None, state: State | None, starts: Tensor | None, condition: Tensor | None
    ) -> tuple[list[Tensor], State]:
        self.admit(state, condition, rows=len(x))
        if not x.shape[1]:
            return [x.new_zeros(len(x), 0, self.width)] * self.number, self.begin(len(x)) if state is None else state
        if starts is None:
            return self._pass(x, mask, state, condition)
        cuts = find_cuts(x.shape[1], starts)
        pieces, state = [], self.begin(len(x)) if state is None else state
        for begin, end in zip(cuts, [*cuts[1:], x.shape[1]], strict=True):
            state = _anew(state, starts[:, begin])
            part, given = slice(begin, end), condition
            given = given[:, part] if given is not None and given.ndim == 3 else given
            found, state = self._pass(x[:, part], None if mask is None else mask[:, part], state, given)
            pieces.append(found)
        return [torch.cat(layer, 1) for layer in zip(*pieces, strict=True)], state

    def _pass(
        self, x: Tensor, mask: Tensor | None, state: State | None, condition: Tensor | None
    ) -> tuple[list[Tensor], State]:
        """A pass over one document of each row."""
        condition = condition[:, 0] if condition is not None and condition.ndim == 3 else condition
        if state is not None and ROW in state and x.shape[1] == 1:
            y, state = self._step(x[:, 0], None if mask is None else mask[:, 0], state, condition)
            return [y[:, None]] * self.number, state
        assert self.columns is not None and self.channels is not None
        fresh = state is None
        state = self.begin(len(x)) if state is None else state
        where = Pass(x.shape[1], self.columns, self.channels, None if fresh else state["position"] % self.across, mask)
        cells = where.cells(x, state["cells"])
        outputs, rows, row = self.stack(cells, None if fresh else state["above"], condition)
        after: State = {
            "position": advance(state["position"], x.shape[1], mask),
            "cells": where.kept(cells, self.stack.up),
            "above": _stacked([where.kept(one, self.stack.above) for one in rows], state["above"]),
        }
        if ROW in state:
            own = {name: [where.kept(one, 0)[:, 0] for one in each] for name, each in row.items()}
            after[ROW] = {name: _stacked(own.get(name, []), old) for name, old in state[ROW].items()}
        return [where.taken(one) for one in outputs], after

    def _step(self, x: Tensor, mask: Tensor | None, state: State, condition: Tensor | None) -> tuple[Tensor, State]:
        """One step, whose state goes on in its place."""
        assert self.channels is not None
        position, across = state["position"], self.across
        place = position % across
        cells = state["cells"]
        _write(cells, self.stack.up * across + place - 1, x, mask, self.channels)
        begins = place == 0 if mask is None else (place == 0) & mask
        if isinstance(self.stack, GatedRows) and (in_graph() or bool(begins.any())):
            self._begin_rows(begins, state, condition)
        column = place // self.channels
        first = self._first(cells, column)
        if isinstance(self.stack, GatedRows):
            y, new = self.stack.step(first, state[ROW], column)
            kept = state[ROW]["left"]
        else:
            y, new = self.stack.step(first, state["above"], column, condition)
            kept = state["above"][:, :, -1]
        if new is not None:
            _set(kept, column, new, mask)
        y = y.unflatten(1, (self.channels, -1))[torch.arange(len(x), device=x.device), place % self.channels]
        position = advance(position, 1, None if mask is None else mask[:, None])
        self._end_rows(position % across == 0 if mask is None else (position % across == 0) & mask, state)
        return y if mask is None else y.masked_fill(~mask[:, None], 0), state | {"position": position}

    def _first(self, cells: Tensor, column: Tensor) -> Tensor:
        """What the first convolution sees of the picture at each one's column: its own row alone where it is gated."""
        rows = cells[:, None, -1:] if self.gated else cells[:, None]
        seen = windows(rows, column, 0 if self.gated else self.stack.up, self.stack.up)[:, 0].flatten(1)
        if self.channels == 1:
            return seen
        own = cells[torch.arange(len(cells), device=cells.device), -1, column]
        return torch.cat([seen, own], 1)

    def _begin_rows(self, begins: Tensor, state: State, condition: Tensor | None) -> None:
        """What is known of a whole row before its first pixel."""
        assert isinstance(self.stack, GatedRows)
        new, down = self.stack.begin_row(state["cells"][:, :-1], state["above"], condition)
        for tensor, value in ((state["above"][:, :, -1], new), (state[ROW]["down"], down)):
            tensor.copy_(torch.where(begins.view(-1, *[1] * (tensor.ndim - 1)), value.to(tensor.dtype), tensor))

    def _end_rows(self, ends: Tensor, state: State) -> None:
        """Where a row is full, the next one is the last of what is kept."""
        if not in_graph() and not bool(ends.any()):
            return
        for tensor, axis in ((state["cells"], 1), (state["above"], 2)):
            moved = torch.cat(
                [tensor.narrow(axis, 1, tensor.shape[axis] - 1), torch.zeros_like(tensor.narrow(axis, 0, 1))], axis
            )
            tensor.copy_(torch.where(ends.view(-1, *[1] * (tensor.ndim - 1)), moved, tensor))


def _anew(state: State, fresh: Tensor) -> State:
    """The state with some rows at their beginning, where all of it is 0."""
    return map_state(state, lambda one: one.masked_fill(fresh.view(-1, *[1] * (one.ndim - 1)), 0))


def _stacked(layers: list[Tensor], like: Tensor) -> Tensor:
    return torch.stack(layers, 1).to(like.dtype) if layers else like


def _write(cells: Tensor, place: Tensor, x: Tensor, mask: Tensor | None, channels: int) -> None:
    """The number `place` of all steps that are kept becomes x, in its place: cells (B, rows, C, K D)."""
    steps = cells.unflatten(3, (channels, -1)).flatten(1, 3)
    index = place[:, None, None].expand(-1, 1, x.shape[1])
    old = steps.gather(1, index) if mask is not None else None
    new = x[:, None].to(cells.dtype)
    steps.scatter_(1, index, new if mask is None or old is None else torch.where(mask[:, None, None], new, old))


def _set(kept: Tensor, column: Tensor, new: Tensor, mask: Tensor | None) -> None:
    """What stands at each one's column becomes `new`, in its place: kept (B, N, C, F), new (B, N, F)."""
    rows = torch.arange(len(kept), device=kept.device)
    new = new.to(kept.dtype)
    kept[rows, :, column] = new if mask is None else torch.where(mask[:, None, None], new, kept[rows, :, column])
