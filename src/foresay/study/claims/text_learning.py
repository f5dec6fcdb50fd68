"""Language models of made sentences, for the claims: rows of ids -> batches -> a trained model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.models.task import Task
from foresay.study.claims.training import train
from foresay.text.tokens import PAD, START, STOP


def padded(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Ids (B, T) with padding on the right, and their mask."""
    ids = torch.full((len(rows), max(map(len, rows))), PAD)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = torch.tensor(row)
    return ids, torch.arange(ids.shape[1]) < torch.tensor([len(row) for row in rows])[:, None]


def whole_rows(rows: Sequence[Sequence[int]]) -> Batch:
    """Each row a text: read after <start>, asked for up to <stop>."""
    ids, mask = padded([[START, *row] for row in rows])
    return Batch(ids=ids, targets=padded([[*row, STOP] for row in rows])[0], mask=mask)


def learn(model: Task, batches: Iterable[Batch], lr: float = 5e-3) -> None:
    """An update for each batch."""
    given = list(batches)
    train(model, lambda update: model.loss(given[update])[0], len(given), lr)
