"""What every recurrent cell keeps: one step of plain maths on gate pre-activations and states.

    projected = x W_ih' + b_ih      for all T in one product: `project`
    state_t   = step(projected_t, state_{t-1})
    y_t       = h_t

A cell that is exactly torch's also has `library`, torch's fused function over the whole segment.

x (B, T, D) -> y (B, T, H); each state (B, H). G gates: weight_ih (G*H, D), weight_hh (G*H, H).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.kernels.cudnn import lay_side_by_side
from foresay.kernels.switch import plain

Memory = dict[str, Tensor]  # the cell's states by name, each (B, H)


class Cell(nn.Module):
    """`build(in_width, size)` makes the parameters; `run` reads a segment without padding."""

    part_kind = "cell"
    states: tuple[str, ...] = ("h",)
    gates = 1  # G
    biased = True
    cudnn = ""  # cuDNN's name of this cell, where it has one
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

    def library(self, x: Tensor, state: Memory) -> tuple[Tensor, Memory] | None:
        """The whole segment by torch's fused function, or None where torch has none."""
        return None

    def run(self, x: Tensor, state: Memory) -> tuple[Tensor, Memory]:
        """A segment without padding or starts: x (B, T, D), states before -> y (B, T, H), states after."""
        done = None if plain() else self.library(x, state)
        if done is not None:
            return done
        outputs = []
        for projected in self.project(x).unbind(1):
            state = self.step(projected, state)
            outputs.append(state["h"])
        return torch.stack(outputs, 1), state

    def library_weights(self) -> list[Tensor]:
        """The weights in the order torch's fused functions take them, on a GPU side by side in memory."""
        assert self.bias_ih is not None and self.bias_hh is not None
        weights: list[Tensor] = [self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh]
        lay_side_by_side(weights, self.cudnn, self.size)
        return weights
