"""What every recurrent cell keeps: one step of plain maths on gate pre-activations and states.

    projected = x W_ih' + b_ih      for all T in one product: `project`
    state_t   = step(projected_t, state_{t-1})
    y_t       = h_t

A cell that is exactly torch's names torch's `fused` function, which then runs whole segments.

x (B, T, D) -> y (B, T, H); each state (B, H). G gates: weight_ih (G*H, D), weight_hh (G*H, H).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from foresay.kernels.cudnn import lay_side_by_side
from foresay.kernels.switch import plain

Memory = dict[str, Tensor]  # the cell's states by name, each (B, H)


class Cell(nn.Module):
    """`build(in_width, size)` makes the parameters; `run` reads a segment without padding."""

    part_kind = "cell"
    states: tuple[str, ...] = ("h",)
    gates = 1  # G
    biased = True
    fused: Callable[..., Any] | None = None  # torch's function, where the cell is exactly torch's
    size: int  # H, known after build

    def build(self, in_width: int, size: int) -> None:
        """Weights uniform within 1/sqrt(H), as torch's; biases zero."""
        self.size = size
        rows, bound = self.gates * size, size**-0.5
        self.weight_ih = nn.Parameter(torch.empty(rows, in_width).uniform_(-bound, bound))
        self.weight_hh = nn.Parameter(torch.empty(rows, size).uniform_(-bound, bound))
        self.bias_ih = nn.Parameter(torch.zeros(rows)) if self.biased else None
        self.bias_hh = nn.Parameter(torch.zeros(rows)) if self.biased else None

    def begin(self, like: Tensor) -> Memory:
        """States before the first step: zeros, for the rows, dtype and device of `like` (B, ...)."""
        return {name: like.new_zeros(len(like), self.size) for name in self.states}

    def project(self, x: Tensor) -> Tensor:
        """The inputs' share of every gate, for all steps at once: (B, T, D) -> (B, T, G*H)."""
        return F.linear(x, self.weight_ih, self.bias_ih)

    def step(self, projected: Tensor, state: Memory) -> Memory:
        """One step: projected (B, G*H) and the states before -> the states after."""
        raise AssertionError(f"{type(self).__name__} has no step")

    def run(self, x: Tensor, state: Memory) -> tuple[Tensor, Memory]:
        """A segment without padding or starts: x (B, T, D), states before -> y (B, T, H), states after."""
        if self.fused is not None and not plain():
            return self.library(x, state)
        outputs = []
        for projected in self.project(x).unbind(1):
            state = self.step(projected, state)
            outputs.append(state["h"])
        return torch.stack(outputs, 1), state

    def library(self, x: Tensor, state: Memory) -> tuple[Tensor, Memory]:
        """The whole segment by torch's fused function."""
        y, *after = self._call(x, self._rows(state), batch_first=True)
        return y, {name: new[0] for name, new in zip(self.states, after, strict=True)}

    def ragged(self, x: Tensor, state: Memory, mask: Tensor) -> tuple[Tensor, Memory]:
        """Right-padded rows by torch's fused function for packed rows: one call on a GPU, where it is fast."""
        lengths = mask.sum(1)
        order = lengths.argsort(descending=True)
        back = order.argsort()
        packed = pack_padded_sequence(x[order], lengths[order].clamp(min=1).cpu(), batch_first=True)
        sorted_state = {name: old[order] for name, old in state.items()}
        data, *after = self._call(packed.data, self._rows(sorted_state), packed.batch_sizes)
        y, _ = pad_packed_sequence(PackedSequence(data, packed.batch_sizes), True, 0.0, x.shape[1])
        kept = {name: new[0, back] for name, new in zip(self.states, after, strict=True)}
        some = mask.any(1, keepdim=True)  # an empty row counted as one step above
        kept = {name: torch.where(some, new, state[name]) for name, new in kept.items()}
        return y[back].masked_fill(~mask[:, :, None], 0), kept

    def _rows(self, state: Memory) -> Any:
        """The states as torch takes them: (1, B, H), a list when there are several."""
        states = [state[name][None] for name in self.states]
        return states if len(states) > 1 else states[0]

    def _call(self, x: Tensor, state: Any, sizes: Tensor | None = None, *, batch_first: bool = False) -> Any:
        assert self.fused is not None and self.bias_ih is not None and self.bias_hh is not None
        weights: list[Tensor] = [self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh]
        lay_side_by_side(weights, self.fused.__name__, self.size)
        if sizes is not None:
            return self.fused(x, sizes, state, weights, True, 1, 0.0, self.training, False)
        return self.fused(x, state, weights, True, 1, 0.0, self.training, False, batch_first)
