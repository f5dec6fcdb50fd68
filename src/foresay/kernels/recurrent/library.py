"""torch's own functions for the cells that are exactly torch's (LSTM, Elman, GRU with reset after): whole sequences.

They know no mask. To pack padded rows is slower than to read the padding too (and on a GPU it waits for the lengths),
which, on the right, changes no real step: the output of the last real step is h after the row. Of an LSTM c must be
kept beyond it: one more input, 1 where padded, shuts i and opens f by HOLD, so that c' = 1 c + 0 c~. Under autocast
torch would run them in float16 whatever half precision is asked for, and small gradients would vanish: here they get
what is asked for.

x (B, T, D), states (B, H) -> y (B, T, H), zero where masked, states after; mask (B, T) with padding on the right.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from foresay.errors import UserError
from foresay.kernels.cudnn import lay_side_by_side
from foresay.kernels.product import half_on_gpu

HOLD = 1e4  # sigmoid(HOLD) is 1 and sigmoid(-HOLD) 0, whatever else is added
EIGHT = 8  # a GPU multiplies rows of half precision by so many numbers at a time

States = dict[str, Tensor]


@dataclass(frozen=True)
class Library:
    """One of torch's functions with its weights: W_ih, W_hh, b_ih, b_hh."""

    function: Callable[..., Any]
    weights: list[Tensor]
    training: bool
    made: bool = False  # for one call: the weights lie apart, and are no parameters

    def run(self, x: Tensor, states: States, mask: Tensor | None) -> tuple[Tensor, States]:
        for name, state in states.items():
            if len(state) != len(x):  # torch would read past its end
                raise UserError(f"state {name} has {len(state)} rows and x has {len(x)}; pass a row for each of x")
        return self._whole(x, states) if mask is None else self._padded(x, states, mask)

    def _padded(self, x: Tensor, states: States, mask: Tensor) -> tuple[Tensor, States]:
        if x.shape[1] == 1:
            y, after = self._whole(x, states)
            return y.masked_fill(~mask[..., None], 0), {s: torch.where(mask, after[s], states[s]) for s in states}
        holding = self
        if "c" in states:
            more = EIGHT - x.shape[2] % EIGHT if x.is_cuda else 1
            x = torch.cat([x, (~mask)[..., None].to(x.dtype).expand(-1, -1, more)], 2)
            holding = replace(self, weights=[_with_hold(self.weights[0], more), *self.weights[1:]], made=True)
        y, after = holding._whole(x, states)
        y, sizes = y.masked_fill(~mask[..., None], 0), mask.sum(1)
        last = y[torch.arange(len(y), device=y.device), (sizes - 1).clamp(min=0)]
        return y, after | {"h": torch.where(sizes[:, None] > 0, last, states["h"])}

    def _whole(self, x: Tensor, states: States) -> tuple[Tensor, States]:
        y, *after = self._call(x, states)
        return y, {name: new[0] for name, new in zip(states, after, strict=True)}

    def _call(self, x: Tensor, states: States) -> Any:
        dtype, weights = half_on_gpu(x), self.weights
        if dtype is not None and dtype != weights[0].dtype:
            x, weights = x.to(dtype), side_by_side(weights, dtype)
        elif self.made and x.is_cuda:
            weights = side_by_side(weights, weights[0].dtype)
        else:
            lay_side_by_side(weights, self.function.__name__, weights[1].shape[1])
        rows = [state[None].to(weights[0].dtype).contiguous() for state in states.values()]
        state = rows if len(rows) > 1 else rows[0]
        with torch.autocast(x.device.type, enabled=False) if x.is_cuda else nullcontext():
            return self.function(x, state, weights, True, 1, 0.0, self.training, False, True)


def side_by_side(weights: list[Tensor], dtype: torch.dtype) -> list[Tensor]:
    """The weights in another type, in one buffer as cuDNN reads them; gradients go back to the weights themselves."""
    buffer = torch.cat([weight.flatten() for weight in weights]).to(dtype)
    pieces = buffer.split([weight.numel() for weight in weights])
    return [piece.view_as(weight) for piece, weight in zip(pieces, weights, strict=True)]


def _with_hold(weight: Tensor, more: int) -> Tensor:
    """W_ih of an LSTM, its gates in the order i f c~ o, with the column of the input that keeps c; others are 0."""
    columns = weight.new_zeros(4, len(weight) // 4, more)
    columns[0, :, 0], columns[1, :, 0] = -HOLD, HOLD
    return torch.cat([weight, columns.flatten(0, 1)], 1)
