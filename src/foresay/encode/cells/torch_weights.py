"""Cells that are exactly torch's share its weights: two biases, though one would do, and torch's function for speed.

weight_ih (G*H, D), weight_hh (G*H, H), bias_ih, bias_hh (G*H,), as torch.nn lays them out.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from foresay.encode.cells.cell import Cell, Memory
from foresay.kernels.recurrent.engine import beats_library
from foresay.kernels.recurrent.library import Library
from foresay.kernels.switch import plain


class TorchCell(Cell):
    """A cell with torch's weights; `function` is torch's name for it, None where torch has no such function."""

    function: str | None = None

    def build(self, in_width: int, size: int) -> None:
        super().build(in_width, size)
        self.bias_hh = nn.Parameter(torch.zeros(len(self.weight_hh)))

    def bias(self) -> Tensor:
        assert self.bias_ih is not None
        return self.bias_ih + self.bias_hh

    def run(self, x: Tensor, memory: Memory, mask: Tensor | None = None) -> tuple[Tensor, Memory]:
        if self.function is None or plain() or x.shape[1] == 0 or beats_library(self.maths, x):
            return super().run(x, memory, mask)
        assert self.bias_ih is not None
        weights = [self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh]
        states = {name: memory[name] for name in self.states}  # in torch's order, in which no file keeps them
        return Library(getattr(torch, self.function), weights, self.training).run(x, states, mask)
