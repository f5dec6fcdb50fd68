"""Symbols drawn by how often they stand in the training text: q(v) in proportion to (count_v + 1) ** power.

The 1 lets a symbol that the text does not have be drawn too: else nothing would ever lower its probability. Until the
counts are known all symbols are alike.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import torch
from annotated_types import Gt, Le
from torch import Tensor, nn

Draws = Annotated[int, Gt(0), Le(1 << 20)]  # symbols drawn for a batch


class Noise(nn.Module):
    """`draw(S)` symbols, all positions the same; `log_q` of every symbol (V,). The counts are kept with the weights."""

    counts: Tensor
    log_q: Tensor
    cumulative: Tensor

    def __init__(self, vocabulary: int, power: float):
        super().__init__()
        self.power = power
        self.register_buffer("counts", torch.zeros(vocabulary, dtype=torch.int64))
        self.register_buffer("log_q", torch.zeros(vocabulary), persistent=False)
        self.register_buffer("cumulative", torch.zeros(vocabulary, dtype=torch.float64), persistent=False)
        self.register_load_state_dict_post_hook(lambda module, _: module._weigh())
        self._weigh()

    def learn(self, counts: np.ndarray) -> None:
        self.counts.copy_(torch.from_numpy(counts))
        self._weigh()

    def _weigh(self) -> None:
        weights = (self.counts.double() + 1) ** self.power
        self.log_q.copy_((weights / weights.sum()).log())
        self.cumulative.copy_(weights.cumsum(0) / weights.sum())

    def draw(self, number: int) -> Tensor:
        """(S,), with repeats."""
        at = torch.rand(number, dtype=torch.float64, device=self.cumulative.device)
        return torch.searchsorted(self.cumulative, at, right=True).clamp(max=len(self.cumulative) - 1)
