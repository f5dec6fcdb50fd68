"""Small sequence models for searching: told by a table, counted, recurrent, attending."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from foresay import parts
from foresay.text.tokens import START

V = 9  # five marks, then four words: 5 .. 8


class Markov:
    """log P of the next symbol by the last one: a table (V, V); the row of <start> begins."""

    device, steady = torch.device("cpu"), True

    def __init__(self, table: Any):
        self.table = torch.as_tensor(table, dtype=torch.float64)
        self.rows_asked: list[int] = []

    def begin(self, rows: int, condition=None, capacity: int | None = None) -> dict[str, torch.Tensor]:
        return {"last": torch.full((rows,), START)}

    def step(self, ids, state, mask=None):
        last = state["last"].clone()
        for column in range(ids.shape[1]):
            real = torch.ones(len(ids), dtype=torch.bool) if mask is None else mask[:, column]
            last = torch.where(real, ids[:, column], last)
        self.rows_asked.append(len(ids))
        return self.table[last], {"last": last}

    def reorder(self, state, rows):
        return {"last": state["last"][rows]}


def told(rows: dict[int, dict[int, float]]) -> Markov:
    """From probabilities: {last: {next: P}}; what is not given has none."""
    table = np.full((V, V), -np.inf)
    for last, following in rows.items():
        for symbol, p in following.items():
            table[last, symbol] = np.log(p)
    return Markov(table)


def random_table(seed: int, spread: float = 1.5) -> Markov:
    drawn = torch.randn(V, V, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return Markov((spread * drawn).log_softmax(1))


def neural(encoder: dict[str, Any], seed: int = 1, double: bool = False) -> Any:
    torch.manual_seed(seed)
    model = parts.make("task", {"kind": "language-model", "embedding": {"size": 5}, "encoder": encoder})
    model.build(V)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.7 * torch.randn_like(parameter))
    return (model.double() if double else model).eval()


class Words:
    """A text as ids."""

    def __init__(self, ids: Any):
        self.ids = np.asarray(ids)

    def __len__(self) -> int:
        return len(self.ids)

    def slice(self, start: int, stop: int) -> np.ndarray:
        return self.ids[start:stop].astype(np.int64)


def counted(seed: int = 1) -> Any:
    """A trigram of a random text: many symbols are alike."""
    ids = np.random.default_rng(seed).integers(3, V, 60)
    ids[ids == 4] = 5
    model = parts.make("task", {"kind": "ngram", "order": 3, "smoothing": {"kind": "add", "k": 0.5}})
    model.build(V)
    model.fit(Words(ids))
    return model.eval()


KINDS: dict[str, Any] = {
    "ngram": counted,
    "lstm": lambda seed=1: neural({"kind": "recurrent", "size": 9}, seed),
    "transformer": lambda seed=1: neural({"kind": "transformer", "size": 8, "layers": 2, "heads": 2}, seed),
}
