"""Elman's recurrent network: h' = g(x W + h U + b), g one of tanh, ReLU, sigmoid, identity.

x (B, T, D) -> y (B, T, H); state h (B, H).
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from foresay.encode.cells.torch_weights import TorchCell
from foresay.kernels.recurrent.maths import Returned
from foresay.parts import part

ACTIVATIONS = {"tanh": torch.tanh, "relu": torch.relu, "sigmoid": torch.sigmoid, "identity": lambda a: a}
FUNCTIONS = {"tanh": "rnn_tanh", "relu": "rnn_relu"}


@part("cell", "elman")
class Elman(TorchCell):
    """The simple recurrent network, h' = g(x W + h U + b)."""

    gates = ("new",)

    def __init__(self, *, activation: Literal["tanh", "relu", "sigmoid", "identity"] = "tanh") -> None:
        super().__init__()
        self.activate, self.function = ACTIVATIONS[activation], FUNCTIONS.get(activation)

    def step(self, new: Tensor) -> Returned:
        return {"h": self.activate(new)}
