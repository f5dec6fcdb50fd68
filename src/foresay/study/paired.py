"""How far one model is behind another on the same text, with an interval: a paired bootstrap.

    figure    f = sum_k parts_k / sum_k wholes_k       over pieces k: tokens, sentences, texts, pairs
    behind    f_other - f_best, or f_best - f_other where much is good
    interval  2.5 % to 97.5 % of behind over draws of pieces, the same for both models

What makes a piece hard is hard for both, and goes in the difference: two models whose own intervals overlap may well be
told apart. Neighbours are drawn together, in at most GROUPS groups, for they are alike.

bits per byte  parts: bits of a token (or of a pair's target), wholes: its share of the bytes
nats per step  parts: nats of a step, wholes: 1
accuracy       parts: right answers, wholes: texts or words
F1 of spans    parts: 2 right, wholes: predicted + true
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from foresay.data.batches import Batches
from foresay.data.row_batches import RowBatches
from foresay.data.series_batches import SeriesBatches
from foresay.data.series_shards import SeriesShards
from foresay.data.shards import Shards
from foresay.models.labelling import Labelling
from foresay.models.series import Series
from foresay.models.tagging import Tagging
from foresay.models.task import Task
from foresay.train.classified import scores_of
from foresay.train.tagged import read_tags, span_hits

GROUPS, DRAWS = 400, 1000


@dataclass(frozen=True)
class Pieces:
    """What a model did on each piece, in the order of the text; `of` names the pieces, which only alike ones share."""

    parts: np.ndarray
    wholes: np.ndarray
    least: bool  # the best is the one with the least
    of: str = ""


def behind(best: Pieces, other: Pieces) -> tuple[float, tuple[float, float] | None]:
    """How far, and its 95 % interval; none where a model holds what came for impossible."""
    number, sign = min(len(best.parts), len(other.parts)), -1 if best.least else 1
    groups = min(number, GROUPS)
    begins = np.arange(groups) * number // groups
    rows = [row[:number] for one in (best, other) for row in (one.parts, one.wholes)]
    sums = np.stack([np.add.reduceat(row, begins) for row in rows])  # (4, groups)
    if not np.isfinite(sums).all():
        return math.inf, None
    drawn = np.random.default_rng(0).multinomial(groups, np.full(groups, 1 / groups), DRAWS)
    each = _difference(drawn @ sums.T, sign)
    low, high = np.quantile(each, [0.025, 0.975])
    return float(_difference(sums.sum(1), sign)), (float(low), float(high))


def _difference(sums: np.ndarray, sign: int) -> Any:
    best, all_of_it, other, all_of_other = np.moveaxis(sums, -1, 0)
    return sign * (best / np.maximum(all_of_it, 1e-12) - other / np.maximum(all_of_other, 1e-12))


def pieces_of(run: Any) -> Pieces:
    """The pieces of a run's own validation part, as many as its training measured at a time."""
    model, train, shards = run.model, run.recipe.train, run.held_out(None, "valid")[1]
    limit = train.evaluate.tokens
    if isinstance(model, Labelling):
        return _of_labels(model, train.batches, shards, limit)
    if isinstance(model, Tagging):
        return _of_tags(model, train.batches, shards, limit)
    if isinstance(model, Series):
        return _of_series(model, train.batches, shards)
    per_token = shards.bytes / train.batches.predicted(shards)
    if isinstance(train.batches, RowBatches):
        nats, counts = _in_rows(model, train.batches, shards, limit)
    else:
        nats = nats_in_places(model, train.batches, shards, limit)
        counts = np.ones(len(nats))
    return Pieces(nats / math.log(2), counts * per_token, least=True, of=str(shards.folder))


@torch.inference_mode()
def nats_in_places(model: Task, batches: Batches, shards: Shards, limit: int) -> np.ndarray:
    """-log P of each of the first tokens of a text, whatever rows it is read in.

    How it is cut into rows depends on its length and its documents alone. So the places of its tokens, cut in the same
    way, tell where each belongs.
    """
    total, state = min(limit, len(shards)), None
    found = np.full(total, np.nan)
    model.eval()
    tokens, places = (_First(shards, total, read) for read in (shards.slice, np.arange))
    for batch, where in zip(batches.evaluation(tokens), batches.evaluation(places), strict=True):  # pyright: ignore[reportArgumentType]
        log_probs, state = model.measure(batch.to(model.device), state)
        assert where.targets is not None
        real = torch.ones_like(where.targets, dtype=torch.bool) if where.mask is None else where.mask
        found[where.targets[real].numpy()] = -log_probs.double().cpu()[real].numpy()
    return found


class _First:
    """The first tokens of shards, or their places."""

    def __init__(self, shards: Shards, total: int, read: Any):
        ends = np.asarray(shards.ends)
        self.folder, self.total, self.read, self.given = shards.folder, total, read, shards.given
        self.ends = np.append(ends[ends < total], total)
        self.documents = len(self.ends)

    def __len__(self) -> int:
        return self.total

    def slice(self, start: int, stop: int) -> np.ndarray:
        return self.read(start, min(stop, self.total))


@torch.inference_mode()
def _in_rows(model: Task, batches: Batches, shards: Shards, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """-log P of each row, and its tokens."""
    nats, counts = [], []
    model.eval()
    for batch in batches.evaluation(shards):
        log_probs, _ = model.measure(batch.to(model.device), None)
        assert batch.targets is not None
        nats.append(-log_probs.double().sum(1).cpu().numpy())
        width = batch.targets.shape[1]
        counts.append(np.full(len(batch.targets), width) if batch.mask is None else batch.mask.sum(1).numpy())
        if sum(map(np.sum, counts)) >= limit:
            break
    return np.concatenate(nats), np.concatenate(counts)


@torch.inference_mode()
def _of_series(model: Series, batches: SeriesBatches, shards: SeriesShards) -> Pieces:
    """-log p of each step, in the order of the series; of those that are not predicted it is 0 of 0."""
    nats, counts = np.zeros(len(shards.values)), np.zeros(len(shards.values))
    model.eval()
    for windows, batch in batches.placed(shards):
        found = -model.measure(batch.to(model.device))[0].double().cpu().numpy()
        assert batch.targets is not None
        known = (~batch.targets.isnan()).any(-1).numpy()
        for row, (number, begin, end, predicted) in enumerate(windows):
            place, first = shards.first(number), predicted - begin
            nats[place + predicted : place + end] = found[row, first : end - begin]
            counts[place + predicted : place + end] = known[row, first : end - begin]
    return Pieces(nats, counts, least=True, of=str(shards.folder))


def _of_labels(model: Labelling, batches: Batches, shards: Shards, limit: int) -> Pieces:
    z, labels, _ = scores_of(model, batches, shards, limit=limit)
    right = ((z >= 0) == labels.bool()).all(1) if model.labels.several else z.argmax(1) == labels
    return Pieces(right.double().numpy(), np.ones(len(right)), least=False)


def _of_tags(model: Tagging, batches: Batches, shards: Shards, limit: int) -> Pieces:
    assert model.tags is not None
    true, predicted, *_ = read_tags(model, batches, shards, limit=limit)
    if model.tags.scheme != "none":
        hits = span_hits(true, predicted).astype(float)
        return Pieces(2 * hits[:, 0], hits[:, 1] + hits[:, 2], least=False)
    right = [sum(map(str.__eq__, one, other)) for one, other in zip(true, predicted, strict=True)]
    return Pieces(np.array(right, float), np.array([len(one) for one in true], float), least=False)
