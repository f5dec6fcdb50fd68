"""Bigram by counts, with add-k smoothing: a sequence model without gradients.

    P(w | u) = (c(u, w) + k) / (c(u) + k V)

Counts are kept sparse: the sorted keys u * V + w and how often each was seen. The state is the last symbol.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.data.shards import Shards
from foresay.encode.encoder import State
from foresay.errors import UserError
from foresay.models.task import Task, masked
from foresay.parts import Rate, part
from foresay.text.tokens import START, STOP

BLOCK = 1 << 22  # tokens counted at a time


@part("task", "ngram")
class Ngram(Task):
    """Bigram counts with add-k smoothing."""

    keys: Tensor
    counts: Tensor
    totals: Tensor  # c(u)

    def __init__(self, add: Rate = 0.1):
        super().__init__()
        self.add = add

    def build(self, vocabulary: int) -> None:
        self.vocabulary = vocabulary
        self._take(torch.zeros(0, dtype=torch.long), torch.zeros(0, dtype=torch.long))

    def fit(self, shards: Shards, on_progress: Callable[[float], None] | None = None) -> None:
        """Counts every pair of neighbours; <start> stands before each document."""
        keys, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
        for begin in range(0, len(shards), BLOCK):
            end = min(begin + BLOCK, len(shards))
            tokens = shards.slice(max(begin - 1, 0), end).astype(np.int64)
            before = tokens[:-1] if begin else np.concatenate([[STOP], tokens[:-1]])
            after = tokens[1:] if begin else tokens
            before = np.where(before == STOP, START, before)
            keys, counts = _merge(keys, counts, *np.unique(before * self.vocabulary + after, return_counts=True))
            if on_progress:
                on_progress(end / len(shards))
        self._take(torch.from_numpy(keys), torch.from_numpy(counts))

    def size(self) -> int:
        return len(self.counts)

    def restore(self, tensors: dict[str, Tensor], source: str = "the checkpoint") -> None:
        if tensors.keys() != {"keys", "counts"}:
            super().restore(tensors, source)  # names what differs
        keys, counts = tensors["keys"], tensors["counts"]  # as many as were seen: no fixed shape
        if keys.shape != counts.shape or (len(keys) and int(keys[-1]) >= self.vocabulary**2):
            raise UserError(f"{source} is of another recipe: keys differs; use the run's own recipe.yaml")
        self._take(keys, counts)

    def _take(self, keys: Tensor, counts: Tensor) -> None:
        self.register_buffer("keys", keys)
        self.register_buffer("counts", counts)
        totals = torch.zeros(self.vocabulary, dtype=torch.long, device=keys.device)
        totals.index_add_(0, keys // self.vocabulary, counts)
        self.register_buffer("totals", totals, persistent=False)

    def measure(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        assert batch.ids is not None and batch.targets is not None
        log_probs = self._log_prob(batch.ids, batch.targets)
        state = state if state is not None and not batch.fresh else self.begin(len(batch.ids))
        return masked(log_probs, batch.mask), self._after(batch.targets, batch.mask, state)

    def begin(self, rows: int, condition: Tensor | None = None, capacity: int | None = None) -> State:
        return {"last": torch.full((rows,), START, device=self.device)}

    def step(self, ids: Tensor, state: State, mask: Tensor | None = None) -> tuple[Tensor, State]:
        state = self._after(ids, mask, state)
        last = state["last"]
        rows = torch.full((len(last), self.vocabulary), self.add, dtype=torch.float64, device=last.device)
        low = torch.searchsorted(self.keys, last * self.vocabulary)
        width = torch.searchsorted(self.keys, (last + 1) * self.vocabulary) - low
        row = torch.repeat_interleave(torch.arange(len(last), device=last.device), width)
        first = torch.repeat_interleave(low - (width.cumsum(0) - width), width)
        found = first + torch.arange(int(width.sum()), device=last.device)
        rows[row, self.keys[found] % self.vocabulary] += self.counts[found].double()
        return (rows / rows.sum(1, keepdim=True)).log().float(), state

    def score(
        self, ids: Tensor, mask: Tensor | None = None, condition: Tensor | None = None, state: State | None = None
    ) -> tuple[Tensor, State]:
        state = state if state is not None else self.begin(len(ids))
        before = torch.cat([state["last"][:, None], ids[:, :-1]], 1)
        return masked(self._log_prob(before, ids), mask), self._after(ids, mask, state)

    def _log_prob(self, before: Tensor, after: Tensor) -> Tensor:
        keys = before * self.vocabulary + after
        place = torch.searchsorted(self.keys, keys).clamp(max=max(len(self.keys) - 1, 0))
        seen = self.keys[place] == keys if len(self.keys) else torch.zeros_like(keys, dtype=torch.bool)
        count = torch.where(seen, self.counts[place] if len(self.keys) else 0, 0).double()
        return ((count + self.add) / (self.totals[before].double() + self.add * self.vocabulary)).log().float()

    def _after(self, ids: Tensor, mask: Tensor | None, state: State) -> State:
        if ids.shape[1] == 0:
            return state
        if mask is None:
            return {"last": ids[:, -1]}
        lengths = mask.sum(1)
        last = ids.gather(1, (lengths - 1).clamp(min=0)[:, None])[:, 0]
        return {"last": torch.where(lengths > 0, last, state["last"])}


def _merge(
    keys: np.ndarray, counts: np.ndarray, more_keys: np.ndarray, more: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Two sorted count tables as one."""
    every, place = np.unique(np.concatenate([keys, more_keys]), return_inverse=True)
    total = np.zeros(len(every), np.int64)
    np.add.at(total, place, np.concatenate([counts, more]))
    return every, total
