"""A model that writes from a source or for a label, with those of some rows: so a search need not know of them.

Row i of what is begun writes from source i; `alone` is the same for one row by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from foresay.encode.encoder import State
from foresay.text.tokens import STOP


class Given:
    """Begin, step and reorder of a model whose condition is known, (B, S)."""

    def __init__(self, model: Any, condition: Tensor):
        self.model, self.condition = model, condition
        self.vocabulary, self.device, self.steady = model.vocabulary, model.device, model.steady

    def begin(self, rows: int, condition: Tensor | None = None, capacity: int | None = None) -> State:
        return self.model.begin(rows, self.condition, capacity)

    def step(self, ids: Tensor, state: State, mask: Tensor | None = None) -> tuple[Tensor, State]:
        return self.model.step(ids, state, mask)

    def reorder(self, state: State, rows: Tensor) -> State:
        return self.model.reorder(state, rows)

    def alone(self, row: int) -> Given:
        """With the source of one row."""
        return Given(self.model, self.condition[row : row + 1])


class Endless:
    """A model whose texts do not end: <stop> cannot be written. For pictures, which are as long as they are."""

    def __init__(self, model: Any):
        self.model = model
        self.vocabulary, self.device, self.steady = model.vocabulary, model.device, model.steady
        self.stop = torch.tensor([STOP], device=model.device)

    def begin(self, rows: int, condition: Tensor | None = None, capacity: int | None = None) -> State:
        return self.model.begin(rows, condition, capacity)

    def step(self, ids: Tensor, state: State, mask: Tensor | None = None) -> tuple[Tensor, State]:
        log_probs, state = self.model.step(ids, state, mask)
        return log_probs.index_fill(1, self.stop, -torch.inf), state

    def reorder(self, state: State, rows: Tensor) -> State:
        return self.model.reorder(state, rows)

    def alone(self, row: int) -> Endless:
        """For one of the rows."""
        return Endless(alone(self.model, row))


class Telling:
    """A model that tells at every step what share of `steps` is done; of what is written again it tells no more."""

    def __init__(self, model: Any, steps: int, tell: Callable[[float], None]):
        self.model, self.steps, self.tell, self.done = model, max(steps, 1), tell, 0
        self.vocabulary, self.device, self.steady = model.vocabulary, model.device, model.steady

    def begin(self, rows: int, condition: Tensor | None = None, capacity: int | None = None) -> State:
        return self.model.begin(rows, condition, capacity)

    def step(self, ids: Tensor, state: State, mask: Tensor | None = None) -> tuple[Tensor, State]:
        self.done += 1
        if self.done <= self.steps:
            self.tell(self.done / self.steps)
        return self.model.step(ids, state, mask)

    def reorder(self, state: State, rows: Tensor) -> State:
        return self.model.reorder(state, rows)

    def alone(self, row: int) -> Any:
        """For one of the rows."""
        return alone(self.model, row)


def alone(model: Any, row: int) -> Any:
    """The model for one of the rows that it was searched with."""
    return model.alone(row) if hasattr(model, "alone") else model
