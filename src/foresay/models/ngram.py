"""n-grams of any order by counts: a sequence model without gradients.

The state is a context of the model's table: the longest end of what was consumed that the table knows. See
counts/table.py for how it is walked, counts/smoothing.py for what the probabilities are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from foresay.counts.count import count
from foresay.counts.smoothing import Add, Smoothing
from foresay.counts.table import Table, build
from foresay.counts.train import check_cut, train
from foresay.data.batch import Batch
from foresay.data.shards import Shards
from foresay.encode.encoder import State
from foresay.errors import UserError
from foresay.models.task import Fitting, Task, masked
from foresay.parts import Amount, Count, Size, part

MEGABYTE = 1 << 20


@part("task", "ngram")
class Ngram(Task):
    """n-grams by counts, smoothed."""

    table: Table
    doing = "counting"
    history = ()  # one pass: no epochs

    steady = True

    def __init__(
        self,
        order: Size = 3,
        smoothing: Smoothing | str = "modified-kneser-ney",
        cut: list[Count] | None = None,
        prune: Amount = 0.0,
        memory: Size = 1024,
    ):
        super().__init__()
        check_cut(cut or [], order)
        self.order, self.smoothing, self.cut, self.prune, self.memory = order, smoothing, cut or [], prune, memory
        self.notes: list[str] = []  # what a person should know of it

    def build(self, vocabulary: int) -> None:
        self.vocabulary = vocabulary
        assert isinstance(self.smoothing, Smoothing)
        nothing = count(Nothing(), 1, vocabulary)
        self.table = build(nothing, Add().estimate(nothing, [np.ones(vocabulary, bool)]))

    def fit(
        self,
        shards: Shards,
        on_progress: Callable[[float], None] | None = None,
        how: Fitting = Fitting(),  # noqa: B008 - it is frozen
    ) -> None:
        """Counts every n-gram; <start> stands before each document. Never more than `memory` megabytes are sorted."""
        assert isinstance(self.smoothing, Smoothing)
        self.table, self.notes = train(
            shards,
            self.vocabulary,
            self.order,
            self.smoothing,
            cut=self.cut,
            prune=self.prune,
            limit=self.memory * MEGABYTE,
            tell=on_progress,
        )

    def size(self) -> int:
        """How many n-grams there are, of all orders."""
        return int(self.table.orders[-1]) - 1

    def tensors(self) -> dict[str, Tensor]:
        return {name: torch.from_numpy(array) for name, array in self.table.arrays().items()}

    def restore(self, tensors: dict[str, Tensor], source: str = "the checkpoint") -> None:
        if tensors.keys() != self.table.arrays().keys():
            super().restore(tensors, source)  # names what differs
        table = Table(**{name: np.ascontiguousarray(tensor.cpu().numpy()) for name, tensor in tensors.items()})
        wrong = table.what_is_wrong(self.vocabulary)
        if wrong is not None:
            raise UserError(f"{source} is of another recipe: {wrong} differs; use the run's own recipe.yaml")
        self.table = table

    def measure(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        assert batch.ids is not None and batch.targets is not None
        if state is None or batch.fresh:  # what stands before the first target is all that is known
            first = batch.ids[:, 0].cpu() if batch.ids.shape[1] else torch.zeros(len(batch.ids), dtype=torch.long)
            state = {"context": torch.from_numpy(self.table.after[1 + first.numpy()].astype(np.int64))}
        return self.score(batch.targets, batch.mask, state=state)

    def begin(self, rows: int, condition: Tensor | None = None, capacity: int | None = None) -> State:
        return {"context": torch.full((rows,), self.table.start)}

    def step(self, ids: Tensor, state: State, mask: Tensor | None = None) -> tuple[Tensor, State]:
        _, state = self.score(ids, mask, state=state)
        rows = self.table.rows(state["context"].cpu().numpy())
        return torch.from_numpy(rows).to(ids.device), state

    def score(
        self, ids: Tensor, mask: Tensor | None = None, condition: Tensor | None = None, state: State | None = None
    ) -> tuple[Tensor, State]:
        contexts = (state or self.begin(len(ids)))["context"]
        lengths = np.full(len(ids), ids.shape[1]) if mask is None else mask.sum(1).cpu().numpy()
        found, after = self.table.score(ids.cpu().numpy(), lengths, contexts.cpu().numpy())
        log_probs = torch.from_numpy(found).float().to(ids.device)
        return masked(log_probs, mask), {"context": torch.from_numpy(after).to(contexts.device)}


class Nothing:
    """A text without a token."""

    def __len__(self) -> int:
        return 0

    def slice(self, start: int, stop: int) -> np.ndarray:
        return np.zeros(0, np.int64)
