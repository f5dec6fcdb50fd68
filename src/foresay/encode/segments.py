"""A cell over rows with documents inside, at the speed of unbroken ones; and the same from right to left.

Time is cut at the columns where a document begins. Each segment goes whole through the cell; between segments the rows
that begin are reset.

x (B, T, D), mask (B, T), starts (B, T) -> values by name (B, T, width); states (B, H).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from foresay.encode.cells.cell import Cell, Memory

Found = dict[str, Tensor]
Read = Callable[[Cell, Tensor, Memory, Tensor | None], tuple[Found, Memory]]


def read_output(cell: Cell, x: Tensor, memory: Memory, mask: Tensor | None) -> tuple[Found, Memory]:
    """What a cell shows, under the name h, zero where masked."""
    y, memory = cell.run(x, memory, mask)
    return {"h": y}, memory


def read_all(cell: Cell, x: Tensor, memory: Memory, mask: Tensor | None) -> tuple[Found, Memory]:
    """Every state after every step and every value the cell names, zero where masked."""
    found, memory = cell.trace(x, memory, mask)
    if mask is not None:
        found = {name: value.masked_fill(~mask[:, :, None], 0) for name, value in found.items()}
    return found, memory


@dataclass(frozen=True)
class Rows:
    """Which steps are real, where documents start, and so where time is cut."""

    mask: Tensor | None
    starts: Tensor | None
    cuts: list[int]

    def backwards(self) -> Rows:
        starts = None if self.starts is None else flip_starts(self.starts, self.mask)
        return Rows(self.mask, starts, self.cuts if starts is None else find_cuts(starts.shape[1], starts))


def find_cuts(steps: int, starts: Tensor | None) -> list[int]:
    """The columns where a segment begins: column 0, and where a document starts."""
    if steps == 0:
        return []
    changed = [] if starts is None else starts[:, 1:].any(0).tolist()
    return [0, *(column for column, cut in enumerate(changed, 1) if cut)]


def run_segments(
    cell: Cell, x: Tensor, memory: Memory, first: Memory, rows: Rows, read: Read = read_output
) -> tuple[Found, Memory]:
    """x and the states before -> what is read of every step, and the states after; documents begin from `first`."""
    if rows.starts is None or not rows.cuts:
        return read(cell, x, memory, rows.mask)
    pieces = []
    for begin, end in zip(rows.cuts, [*rows.cuts[1:], x.shape[1]], strict=True):
        fresh = rows.starts[:, begin]
        memory = {name: torch.where(_as_rows(fresh, old), first[name], old) for name, old in memory.items()}
        mask = None if rows.mask is None else rows.mask[:, begin:end]
        found, memory = read(cell, x[:, begin:end], memory, mask)
        pieces.append(found)
    if len(pieces) == 1:
        return pieces[0], memory
    return {name: torch.cat([piece[name] for piece in pieces], 1) for name in pieces[0]}, memory


def run_backwards(cell: Cell, x: Tensor, first: Memory, rows: Rows, read: Read = read_output) -> tuple[Found, Memory]:
    """A cell from each row's last real step to its first; what is read stands where its x stood."""
    found, memory = run_segments(cell, flip(x, rows.mask), first, first, rows.backwards(), read)
    return {name: flip(value, rows.mask) for name, value in found.items()}, memory


def _as_rows(flags: Tensor, like: Tensor) -> Tensor:
    """(B,) shaped to choose rows of `like` (B, ...)."""
    return flags.view(-1, *[1] * (like.dim() - 1))


def flip(x: Tensor, mask: Tensor | None) -> Tensor:
    """Each row from its last real step to its first, padding left where it is: x (B, T, ...); its own inverse."""
    if mask is None:
        return x.flip(1)
    steps = torch.arange(x.shape[1], device=x.device)
    back = mask.sum(1, keepdim=True) - 1 - steps
    order = torch.where(mask, back, steps) + x.shape[1] * torch.arange(x.shape[0], device=x.device)[:, None]
    return _Reordered.apply(x, order.flatten())  # pyright: ignore[reportReturnType]


class _Reordered(torch.autograd.Function):
    """x (B, T, ...) by an order of its steps that is its own inverse: backwards is the same, nothing is added up."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, order: Tensor) -> Tensor:
        ctx.save_for_backward(order)
        return x.flatten(0, 1).index_select(0, order).view_as(x)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _Reordered.apply(grads[0], *ctx.saved_tensors), None  # pyright: ignore[reportReturnType]


def flip_starts(starts: Tensor, mask: Tensor | None) -> Tensor:
    """Where documents begin when each row is read backwards: at what was the last step of each."""
    last = torch.zeros_like(starts)
    last[:, :-1] = starts[:, 1:]
    return flip(last, mask)
