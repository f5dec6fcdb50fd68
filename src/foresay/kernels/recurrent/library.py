"""torch's own functions for the cells that are exactly torch's (LSTM, Elman, GRU with reset after): whole sequences.

They know no mask. On a GPU padded rows are packed, one call. On a CPU packing is 4.4 times slower than cutting time
where some row ends: each segment goes whole, and rows that have ended keep their state. Under autocast torch would run
them in float16 whatever half precision is asked for, and small gradients would vanish: here they get what is asked for.

x (B, T, D), states (B, H) -> y (B, T, H), zero where masked, states after; mask (B, T) with padding on the right.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from foresay.errors import UserError
from foresay.kernels.cudnn import lay_side_by_side
from foresay.kernels.product import half_on_gpu

States = dict[str, Tensor]


@dataclass(frozen=True)
class Library:
    """One of torch's functions with its weights: W_ih, W_hh, b_ih, b_hh."""

    function: Callable[..., Any]
    weights: list[Tensor]
    training: bool

    def run(self, x: Tensor, states: States, mask: Tensor | None) -> tuple[Tensor, States]:
        for name, state in states.items():
            if len(state) != len(x):  # torch would read past its end
                raise UserError(f"state {name} has {len(state)} rows and x has {len(x)}; pass a row for each of x")
        if mask is None:
            return self._whole(x, states)
        if x.is_cuda:
            return self._packed(x, states, mask)
        outputs = []
        cuts = find_ends(mask)
        for begin, end in zip(cuts, [*cuts[1:], x.shape[1]], strict=True):
            y, after = self._whole(x[:, begin:end], states)
            real = mask[:, begin, None]
            states = {name: torch.where(real, new, states[name]) for name, new in after.items()}
            outputs.append(y.masked_fill(~real[:, :, None], 0))
        return outputs[0] if len(outputs) == 1 else torch.cat(outputs, 1), states

    def _whole(self, x: Tensor, states: States) -> tuple[Tensor, States]:
        y, *after = self._call(x, states, None)
        return y, {name: new[0] for name, new in zip(states, after, strict=True)}

    def _packed(self, x: Tensor, states: States, mask: Tensor) -> tuple[Tensor, States]:
        lengths = mask.sum(1)
        order = lengths.argsort(descending=True)
        back = order.argsort()
        packed = pack_padded_sequence(x[order], lengths[order].clamp(min=1).cpu(), batch_first=True)
        data, *after = self._call(packed.data, {name: old[order] for name, old in states.items()}, packed.batch_sizes)
        y, _ = pad_packed_sequence(PackedSequence(data, packed.batch_sizes), True, 0.0, x.shape[1])
        some = mask.any(1, keepdim=True)  # an empty row counted as one step above
        kept = {
            name: torch.where(some, new[0, back], old) for (name, old), new in zip(states.items(), after, strict=True)
        }
        return y[back].masked_fill(~mask[:, :, None], 0), kept

    def _call(self, x: Tensor, states: States, sizes: Tensor | None) -> Any:
        dtype, weights = half_on_gpu(x), self.weights
        if dtype is not None and dtype != weights[0].dtype:
            x, weights = x.to(dtype), side_by_side(weights, dtype)
        else:
            lay_side_by_side(weights, self.function.__name__, weights[1].shape[1])
        rows = [state[None].to(weights[0].dtype).contiguous() for state in states.values()]
        state = rows if len(rows) > 1 else rows[0]
        with torch.autocast(x.device.type, enabled=False) if x.is_cuda else nullcontext():
            if sizes is not None:
                return self.function(x, sizes, state, weights, True, 1, 0.0, self.training, False)
            return self.function(x, state, weights, True, 1, 0.0, self.training, False, True)


def side_by_side(weights: list[Tensor], dtype: torch.dtype) -> list[Tensor]:
    """The weights in another type, in one buffer as cuDNN reads them; gradients go back to the weights themselves."""
    buffer = torch.cat([weight.flatten() for weight in weights]).to(dtype)
    pieces = buffer.split([weight.numel() for weight in weights])
    return [piece.view_as(weight) for piece, weight in zip(pieces, weights, strict=True)]


def find_ends(mask: Tensor) -> list[int]:
    """Column 0, and the columns where some row's padding begins."""
    changes = (mask[:, 1:] != mask[:, :-1]).any(0)
    return [0, *(column for column, cut in enumerate(changes.tolist(), 1) if cut)]
