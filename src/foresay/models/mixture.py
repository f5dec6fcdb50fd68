"""Several models of one vocabulary as one: P(w | u) = Σ λᵢ Pᵢ(w | u), the weights fitted by EM on held-out text.

rᵢ(w) = λᵢ Pᵢ(w) / Σⱼ λⱼ Pⱼ(w)          how much of a token each model takes on itself
λᵢ    = mean of rᵢ over the text         until nothing changes; the likelihood never falls
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from foresay.data.batch import Batch
from foresay.encode.encoder import State
from foresay.errors import UserError
from foresay.models.task import Task, masked

ROUNDS, CHANGE = 1000, 1e-7


class Mixture(Task):
    """A sequence model like its members; their weights sum to one."""

    weights: Tensor

    def __init__(self, members: Sequence[Task], weights: Sequence[float] | None = None):
        super().__init__()
        sizes = [member.vocabulary for member in members]
        if len(members) < 2 or len(set(sizes)) > 1:
            raise UserError(f"a mixture of vocabularies {sizes}; give two or more models of one vocabulary")
        self.members = cast("list[Task]", nn.ModuleList(members))
        self.vocabulary = sizes[0]
        self.steady = all(member.steady for member in members)
        given = torch.tensor(weights or [1 / len(members)] * len(members), dtype=torch.float64)
        if len(given) != len(members) or (given < 0).any() or abs(float(given.sum()) - 1) > 1e-6:
            raise UserError(f"weights {given.tolist()}; allowed: {len(members)} that are not negative and sum to 1")
        self.register_buffer("weights", given)

    def begin(self, rows: int, condition: Tensor | None = None, capacity: int | None = None) -> State:
        return {str(i): member.begin(rows, condition, capacity) for i, member in enumerate(self.members)}

    def step(self, ids: Tensor, state: State, mask: Tensor | None = None) -> tuple[Tensor, State]:
        return self._mixed(lambda member, own: member.step(ids, own or {}, mask), state)

    def score(
        self, ids: Tensor, mask: Tensor | None = None, condition: Tensor | None = None, state: State | None = None
    ) -> tuple[Tensor, State]:
        state = state if state is not None else self.begin(len(ids), condition)
        found, state = self._mixed(lambda member, own: member.score(ids, mask, condition, own), state)
        return masked(found, mask), state

    def measure(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        found, after = self._mixed(lambda member, own: member.measure(batch, own), state)
        return masked(found, batch.mask), after

    def _mixed(
        self, call: Callable[[Task, State | None], tuple[Tensor, State]], state: State | None
    ) -> tuple[Tensor, State]:
        logs, after = [], {}
        for i, member in enumerate(self.members):
            found, after[str(i)] = call(member, None if state is None else state[str(i)])
            logs.append(found.double() + self.weights[i].log())
        return torch.logsumexp(torch.stack(logs), 0).float(), after


def fit_weights(log_probs: np.ndarray) -> list[float]:
    """The weights that make a text likeliest, of what each model (rows) gives each token (columns)."""
    weights = np.full(len(log_probs), 1 / len(log_probs))
    with np.errstate(divide="ignore"):
        for _ in range(ROUNDS):
            shares = log_probs + np.log(weights)[:, None]
            shares = np.exp(shares - np.logaddexp.reduce(shares, 0))
            new = np.nan_to_num(shares).mean(1)  # a token that all hold for impossible says nothing
            new /= new.sum()
            done = np.abs(new - weights).max() < CHANGE
            weights = new
            if done:
                break
    return weights.tolist()
