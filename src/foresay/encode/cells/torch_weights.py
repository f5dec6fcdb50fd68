"""Cells that are exactly torch's share its weights: two biases, though one would do, and torch's function for speed.

weight_ih (G*H, D), weight_hh (G*H, H), bias_ih, bias_hh (G*H,), as torch.nn lays them out.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from foresay.encode.cells.cell import Cell, Memory
from foresay.kernels.cudnn import lay_side_by_side
from foresay.kernels.recurrent.engine import beats_library
from foresay.kernels.recurrent.library import Library
from foresay.kernels.switch import plain


class TorchCell(Cell):
    """A cell with torch's weights; `function` is torch's name for it, None where torch has no such function."""

    function: str | None = None
    weight_hh: nn.Parameter

    def build(self, in_width: int, size: int) -> None:
        super().build(in_width, size)
        self.bias_hh = nn.Parameter(torch.zeros(len(self.weight_hh)))

    def flatten_parameters(self) -> None:
        """Lays the weights side by side on a GPU, as cuDNN wants them and would otherwise do at its first call."""
        if self.function is not None and self._parameters:  # one that stands for others is never built
            lay_side_by_side(self._weights(), self.function, self.size)

    def _weights(self) -> list[Tensor]:
        assert self.bias_ih is not None
        return [self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh]

    def bias(self) -> Tensor:
        assert self.bias_ih is not None
        return self.bias_ih + self.bias_hh

    def run(self, x: Tensor, memory: Memory, mask: Tensor | None = None) -> tuple[Tensor, Memory]:
        if self.function is None or plain() or x.shape[1] == 0:
            return super().run(x, memory, mask)
        if beats_library(self.maths, x, self.function, training=self.training):
            return super().run(x, memory, mask)
        states = {name: memory[name] for name in self.states}  # in torch's order, in which no file keeps them
        return Library(getattr(torch, self.function), self._weights(), self.training).run(x, states, mask)
