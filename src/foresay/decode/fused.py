"""Shallow fusion: the next symbol is chosen by log P + sum_i weight_i log P_i, each model keeping a state of its own.

What a search, a translator or a recogniser uses a second language model for. The sum is no distribution: scores found
with it are of the sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from foresay.decode.given import alone
from foresay.encode.encoder import State
from foresay.errors import UserError


class Fused:
    """A model and others beside it, as one that can be searched: begin, step and reorder."""

    def __init__(self, model: Any, others: Sequence[tuple[Any, float]]):
        sizes = [model.vocabulary, *(other.vocabulary for other, _ in others)]
        if len(set(sizes)) > 1:
            raise UserError(f"models of {', '.join(map(str, sizes))} symbols; fuse models of one vocabulary")
        for _, weight in others:
            if not (isinstance(weight, int | float) and 0 <= weight < math.inf):
                raise UserError(f"a weight of {weight!r}; allowed: 0 or more: with less, longer texts could only win")
        self.models = [(model, 1.0), *others]
        self.vocabulary, self.device = model.vocabulary, model.device
        self.steady = all(one.steady for one, _ in self.models)

    def begin(self, rows: int, condition: Tensor | None = None, capacity: int | None = None) -> State:
        return {str(n): model.begin(rows, condition, capacity) for n, (model, _) in enumerate(self.models)}

    def step(self, ids: Tensor, state: State, mask: Tensor | None = None) -> tuple[Tensor, State]:
        total, after = torch.zeros(1, device=self.device), {}
        for n, (model, weight) in enumerate(self.models):
            own = None if mask is None else mask.to(model.device)
            log_probs, after[str(n)] = model.step(ids.to(model.device), state[str(n)], own)
            if weight:
                total = total + weight * log_probs.to(self.device)
        return total, after

    def reorder(self, state: State, rows: Tensor) -> State:
        return {str(n): model.reorder(state[str(n)], rows) for n, (model, _) in enumerate(self.models)}

    def alone(self, row: int) -> Fused:
        """For one of the rows that it was searched with."""
        (model, _), *others = [(alone(model, row), weight) for model, weight in self.models]
        return Fused(model, others)
