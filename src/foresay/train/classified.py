"""Measuring a classifier on held-out texts: accuracy, F1 of every label and their mean, what is taken for what.

    accuracy   the share of texts whose label, or whole set of labels, is right
    F1         2 tp / (2 tp + fp + fn) of a label
    macro-F1   their mean over the labels that stand in the texts or the answers
    loss       mean -log P of what a text is labelled with
    calibration error   sum_b n_b / N |accuracy_b - mean P_b| over 15 equal bins b of P of the answer (Guo et al. 2017)

Where there may be several labels, one is given if its P is at least 1/2. Intervals are 95 %, by a bootstrap over texts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from foresay.data.batches import Batches
from foresay.data.shards import Shards
from foresay.models.labelling import Labelling
from foresay.train.evaluate import told

BINS = 15
PIECES = 400  # groups of texts, at most, that the bootstrap draws from
DRAWS = 1000
Interval = tuple[float, float]


@dataclass(frozen=True)
class Classified:
    """What an evaluation gives, of `texts` texts with `tokens` tokens."""

    names: tuple[str, ...]
    loss: float
    accuracy: float
    accuracy_interval: Interval
    macro_f1: float
    macro_f1_interval: Interval
    counts: np.ndarray  # (C, 3): of each label those found, falsely found, and missed
    most_frequent: (
        float  # the accuracy of always giving the most frequent label, or set of labels where there are several
    )
    texts: int
    tokens: int
    confusion: np.ndarray | None = None  # (C, C): texts by their label (rows) and the answer; None where several
    calibration_error: float = math.nan  # of P as it is given
    raw_calibration_error: float = math.nan  # of P before it was calibrated
    temperature: float = 1.0
    notes: tuple[str, ...] = ()  # what a person should know of how the texts were read

    def spelt(self) -> str:
        """In a line."""
        accuracy, f1 = 100 * self.accuracy, 100 * self.macro_f1
        return f"valid loss {told(self.loss, 4)}, accuracy {accuracy:.2f} %, macro-F1 {f1:.2f} %"

    def as_dict(self) -> dict[str, Any]:
        return {
            "loss": self.loss,
            "accuracy": self.accuracy,
            "accuracy_interval": list(self.accuracy_interval),
            "macro_f1": self.macro_f1,
            "macro_f1_interval": list(self.macro_f1_interval),
            "most_frequent": self.most_frequent,
            "calibration_error": self.calibration_error,
            "raw_calibration_error": self.raw_calibration_error,
            "temperature": self.temperature,
            "texts": self.texts,
            "tokens": self.tokens,
        }

    def labels(self) -> dict[str, dict[str, float]]:
        """Of every label precision, recall, F1 and how many texts have it."""
        found = {}
        for name, (right, false, missed) in zip(self.names, self.counts.tolist(), strict=True):
            found[name] = {
                "precision": right / max(right + false, 1),
                "recall": right / max(right + missed, 1),
                "f1": 2 * right / max(2 * right + false + missed, 1),
                "texts": right + missed,
            }
        return found

    def report(self) -> dict[str, Any]:
        """All of it, for programs."""
        table = {} if self.confusion is None else {"confusion": self.confusion.tolist()}
        return self.as_dict() | {"labels": self.labels(), **table}


@torch.inference_mode()
def classify(
    model: Labelling,
    batches: Batches,
    shards: Shards,
    *,
    limit: int | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Classified:
    """Every text once and in order; at most about `limit` tokens."""
    z, labels, tokens = scores_of(model, batches, shards, limit=limit, on_progress=on_progress)
    nats, p = model.nats_of(z / float(model.heat), labels)
    raw, truths = model.nats_of(z, labels)[1].numpy(), labels.numpy()
    answers = (p >= 0.5 if model.labels.several else p.argmax(1)).numpy()
    found = judged(model.labels.names, truths, answers, float(nats.mean()), tokens)
    after, before = (calibration_error(one, truths) for one in (p.numpy(), raw))
    return replace(found, calibration_error=after, raw_calibration_error=before, temperature=float(model.heat))


@torch.inference_mode()
def scores_of(
    model: Labelling,
    batches: Batches,
    shards: Shards,
    *,
    limit: int | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> tuple[Tensor, Tensor, int]:
    """The scores (N, C) of texts in order, their labels, and how many tokens were read."""
    was_training, scores, labels, tokens = model.training, [], [], 0
    model.eval()
    for batch in batches.evaluation(shards):
        assert batch.labels is not None
        scores.append(model.scores(batch.to(model.device)).double().cpu())
        labels.append(batch.labels)
        tokens += batch.tokens
        if on_progress:
            on_progress(min(tokens / len(shards), 1.0))
        if limit is not None and tokens >= limit:
            break
    model.train(was_training)
    return torch.cat(scores), torch.cat(labels), tokens


def calibration_error(p: np.ndarray, truths: np.ndarray) -> float:
    """How far P of the answers is from how often they are right; where there are several, of each label by itself."""
    if truths.ndim == 2:
        sure, right = np.maximum(p, 1 - p).ravel(), ((p >= 0.5) == truths.astype(bool)).ravel()
    else:
        sure, right = p.max(1), p.argmax(1) == truths
    if not np.isfinite(sure).all():  # of a model that has diverged
        return math.nan
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, right.astype(float) - sure, BINS)
    return float(np.abs(gaps).sum() / len(sure))


def judged(names: tuple[str, ...], truths: np.ndarray, answers: np.ndarray, loss: float, tokens: int = 0) -> Classified:
    """The figures of answers: numbers of labels (N,), or (N, C) of 0 and 1 where there may be several."""
    several = truths.ndim == 2
    true, given = (one.astype(bool) if several else np.eye(len(names), dtype=bool)[one] for one in (truths, answers))
    right = (true == given).all(1)
    cells = np.stack([true & given, ~true & given, true & ~given], 2)  # (N, C, 3)
    counts = cells.sum(0)
    confusion = None
    if not several:
        confusion = np.zeros((len(names), len(names)), np.int64)
        np.add.at(confusion, (truths, answers), 1)
    low_high = _intervals(right, cells)
    return Classified(
        names=names,
        loss=loss,
        accuracy=float(right.mean()),
        accuracy_interval=low_high[0],
        macro_f1=float(_macro_f1(counts[None])[0]),
        macro_f1_interval=low_high[1],
        counts=counts,
        most_frequent=float(np.unique(true, axis=0, return_counts=True)[1].max() / len(true)),
        texts=len(true),
        tokens=tokens,
        confusion=confusion,
    )


def _macro_f1(counts: np.ndarray) -> np.ndarray:
    """The mean F1 of the labels that occur, for each of the draws: (K, C, 3) -> (K,)."""
    right, others = 2 * counts[..., 0], counts[..., 1] + counts[..., 2]
    there = right + others > 0
    f1 = right / np.maximum(right + others, 1)
    return (f1 * there).sum(1) / np.maximum(there.sum(1), 1)


def _intervals(right: np.ndarray, cells: np.ndarray) -> tuple[Interval, Interval]:
    """Of accuracy and macro-F1: texts are put into groups by chance, and groups are drawn with replacement."""
    random = np.random.default_rng(0)
    groups = min(len(right), PIECES)
    group = random.permutation(len(right)) % groups
    sums = np.zeros((groups, 2 + cells[0].size))
    np.add.at(sums, group, np.concatenate([np.ones((len(right), 1)), right[:, None], cells.reshape(len(right), -1)], 1))
    drawn = random.multinomial(groups, np.full(groups, 1 / groups), DRAWS) @ sums
    accuracies, f1s = drawn[:, 1] / drawn[:, 0], _macro_f1(drawn[:, 2:].reshape(DRAWS, *cells.shape[1:]))
    (low, high), (least, most) = (np.quantile(one, [0.025, 0.975]).tolist() for one in (accuracies, f1s))
    return (low, high), (least, most)
