"""Layers mixed into one vector (ELMo, Peters et al. 2018).

    learnt    v = gamma sum_j s_j h_j,  s = softmax(w); w and gamma learn with the task, from even shares and 1
    mean      v = 1/J sum_j h_j
    [a, ...]  v = sum_j a_j h_j: weights by hand, as they are; [1, 0, 0] is h_0 alone
    joined    v = [x; h_top]: the word's own vector beside the top layer of both ways

h_0, h_1, ... each (B, T, D), h_0 = [x; x] -> v (B, T, D); joined (B, T, D_0 / 2 + D).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from foresay.errors import UserError

How = Literal["learnt", "mean", "joined"] | list[float]


class Mix(nn.Module):
    """Built for layers of given widths; `width` is that of what it gives."""

    weights: Tensor

    def __init__(self, how: How, widths: Sequence[int]) -> None:
        super().__init__()
        self.how = how
        if how == "joined":
            self.width = widths[0] // 2 + widths[-1]
            return
        if len(set(widths)) > 1:
            raise UserError(
                f"elmo: mix={how} adds layers, and they are {', '.join(map(str, widths))} wide; set mix=joined, or "
                "train a bilm whose embedding is as wide as its encoder"
            )
        if isinstance(how, list) and not all(map(math.isfinite, how)):
            raise UserError(f"elmo: mix={how}; allowed: finite numbers")
        if isinstance(how, list) and len(how) != len(widths):
            raise UserError(
                f"elmo: mix={how} has {len(how)} weights; allowed: {len(widths)}, one for the word's own vector "
                "and one for each layer"
            )
        self.width = widths[0]
        if how == "learnt":
            self.scores, self.gamma = nn.Parameter(torch.zeros(len(widths))), nn.Parameter(torch.ones(()))
        else:
            shares = torch.tensor(how) if isinstance(how, list) else torch.full((len(widths),), 1 / len(widths))
            self.register_buffer("weights", shares)

    def shares(self) -> Tensor:
        """What each layer is multiplied with, (J,)."""
        return self.gamma * self.scores.softmax(0) if self.how == "learnt" else self.weights

    def forward(self, layers: Sequence[Tensor]) -> Tensor:
        if self.how == "joined":
            return torch.cat([layers[0][..., : layers[0].shape[-1] // 2], layers[-1]], -1)
        return torch.einsum("j,jbtd->btd", self.shares().to(layers[0].dtype), torch.stack(list(layers)))
