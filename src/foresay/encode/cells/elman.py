"""Elman's recurrent network: h' = g(W_ih x + b_ih + W_hh h + b_hh), g one of tanh, ReLU, sigmoid, identity.

Two biases, though one would do, because torch's weights have two.

x (B, T, D) -> y (B, T, H); state h (B, H).
"""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from foresay.encode.cells.cell import Cell, Memory
from foresay.parts import part

ACTIVATIONS = {"tanh": torch.tanh, "relu": torch.relu, "sigmoid": torch.sigmoid, "identity": lambda a: a}


@part("cell", "elman")
class Elman(Cell):
    """The simple recurrent network, h' = g(W x + U h + b)."""

    def __init__(self, *, activation: Literal["tanh", "relu", "sigmoid", "identity"] = "tanh") -> None:
        super().__init__()
        self.activation = activation
        self.fused = {"tanh": torch.rnn_tanh, "relu": torch.rnn_relu}.get(activation)

    def step(self, projected: Tensor, state: Memory) -> Memory:
        return {"h": ACTIVATIONS[self.activation](projected + F.linear(state["h"], self.weight_hh, self.bias_hh))}
