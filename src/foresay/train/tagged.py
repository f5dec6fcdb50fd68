"""Measuring a tagger: loss, accuracy, F1 of spans, and a table of every tag or type of span.

    accuracy  = the share of words with the right tag
    precision = right / predicted,  recall = right / true,  F1 = 2 right / (predicted + true)

A span is right where its type and both its ends are. Spans are read as conlleval and seqeval read them (data/spans.py).
Intervals are 95 % bootstrap intervals over sentences.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from foresay.data.batches import Batches
from foresay.data.shards import Shards
from foresay.data.spans import spans_of
from foresay.models.tagging import Tagging
from foresay.text.tokens import UNK
from foresay.train.evaluate import told

DRAWS = 1000


@dataclass(frozen=True)
class Hits:
    """How often something was predicted, was true, and was both."""

    right: int
    predicted: int
    true: int

    @property
    def precision(self) -> float:
        return self.right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.true if self.true else 0.0

    @property
    def f1(self) -> float:
        whole = self.predicted + self.true
        return 2 * self.right / whole if whole else 0.0

    def as_dict(self) -> dict[str, Any]:
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1, **asdict(self)}


@dataclass(frozen=True)
class TagFigures:
    """What an evaluation of a tagger gives; `tokens` of `of` words were read."""

    loss: float
    accuracy: float
    accuracy_interval: tuple[float, float]
    tokens: int
    of: int
    unknown: float  # the share of words that are <unk>
    unknown_accuracy: float  # on these alone
    spans: Hits | None  # None: the tags write no spans
    f1_interval: tuple[float, float]
    table: dict[str, Hits]  # by tag, or by type of span
    most_frequent: float = math.nan  # the accuracy of always giving the most frequent tag
    notes: tuple[str, ...] = ()  # what a person should know of how the words were read

    def spelt(self) -> str:
        """In a line."""
        f1 = "" if self.spans is None else f", span F1 {100 * self.spans.f1:.2f} %"
        return f"valid loss {told(self.loss, 4)}, accuracy {100 * self.accuracy:.2f} %{f1}"

    def as_dict(self, *, table: bool = False) -> dict[str, Any]:
        spans = {} if self.spans is None else {"spans": self.spans.as_dict() | {"f1_interval": list(self.f1_interval)}}
        return {
            "loss": self.loss,
            "accuracy": self.accuracy,
            "accuracy_interval": list(self.accuracy_interval),
            **spans,
            "most_frequent": self.most_frequent,
            "unknown": self.unknown,
            "accuracy_of_unknown": self.unknown_accuracy,
            "tokens": self.tokens,
            "of_tokens": self.of,
            **({"table": {name: hits.as_dict() for name, hits in self.table.items()}} if table else {}),
        }


def measure_tags(model: Tagging, batches: Batches, shards: Shards, *, limit: int | None = None) -> TagFigures:
    """Every sentence once and in order; at most about `limit` words."""
    assert model.tags is not None
    true, predicted, unknown, loss = read_tags(model, batches, shards, limit=limit)
    spans = model.tags.scheme != "none"
    return figures(true, predicted, unknown, loss=loss, of=len(shards) - shards.documents, spans=spans)


@torch.inference_mode()
def read_tags(
    model: Tagging, batches: Batches, shards: Shards, *, limit: int | None = None
) -> tuple[list[list[str]], list[list[str]], list[np.ndarray], float]:
    """The tags of each sentence, those found for it, which of its words are <unk>; and the loss a word."""
    assert model.tags is not None
    was_training, names = model.training, model.tags.names
    model.eval()
    true: list[list[str]] = []
    predicted: list[list[str]] = []
    unknown: list[np.ndarray] = []
    nats = tokens = 0.0
    for batch in batches.evaluation(shards):
        assert batch.ids is not None and batch.targets is not None
        here = batch.to(model.device)
        nats -= float(model.measure(here)[0].double().sum())
        sizes = [batch.ids.shape[1]] * len(batch.ids) if batch.mask is None else batch.mask.sum(1).tolist()
        for side, found in ((true, batch.targets), (predicted, model.best(here).cpu())):
            side += [[names[tag] for tag in row[:n]] for row, n in zip(found.tolist(), sizes, strict=True)]
        unknown += [row[:n] == UNK for row, n in zip(batch.ids.numpy(), sizes, strict=True)]
        tokens += sum(sizes)
        if limit is not None and tokens >= limit:
            break
    model.train(was_training)
    return true, predicted, unknown, nats / max(tokens, 1)


def figures(
    true: Sequence[Sequence[str]],
    predicted: Sequence[Sequence[str]],
    unknown: Sequence[np.ndarray],
    *,
    loss: float,
    of: int,
    spans: bool,
) -> TagFigures:
    """The figures of sentences with true and predicted tags; `unknown` says which words are <unk>."""
    sizes = np.array([len(tags) for tags in true])
    right = [np.array(one, object) == np.array(other, object) for one, other in zip(true, predicted, strict=True)]
    every, strange = np.concatenate(right).astype(bool), np.concatenate(unknown).astype(bool)
    counted = np.array([hits.sum() for hits in right])
    hits = span_hits(true, predicted) if spans else None
    table = type_hits(true, predicted) if spans else tag_hits(true, predicted)
    return TagFigures(
        loss=loss,
        accuracy=float(every.mean()),
        accuracy_interval=_interval(counted, sizes),
        tokens=len(every),
        of=of,
        unknown=float(strange.mean()),
        unknown_accuracy=float(every[strange].mean()) if strange.any() else math.nan,
        spans=None if hits is None else Hits(*(int(n) for n in hits.sum(0))),
        f1_interval=(math.nan, math.nan) if hits is None else _interval(2 * hits[:, 0], hits[:, 1] + hits[:, 2]),
        table=table,
        most_frequent=max(Counter(tag for tags in true for tag in tags).values()) / len(every),
    )


def span_hits(true: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]]) -> np.ndarray:
    """Of each sentence how many spans are right, predicted, true: (sentences, 3)."""
    found = []
    for one, other in zip(true, predicted, strict=True):
        real, guessed = set(spans_of(one)), set(spans_of(other))
        found.append((len(real & guessed), len(guessed), len(real)))
    return np.array(found, np.int64).reshape(-1, 3)


def type_hits(true: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]]) -> dict[str, Hits]:
    """The spans of each type."""
    counts = [Counter(), Counter(), Counter()]
    for one, other in zip(true, predicted, strict=True):
        real, guessed = set(spans_of(one)), set(spans_of(other))
        for counter, spans in zip(counts, (real & guessed, guessed, real), strict=True):
            counter.update(span.type for span in spans)
    return _table(*counts)


def tag_hits(true: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]]) -> dict[str, Hits]:
    """The words of each tag."""
    counts = [Counter(), Counter(), Counter()]
    for one, other in zip(true, predicted, strict=True):
        counts[0].update(a for a, b in zip(one, other, strict=True) if a == b)
        counts[1].update(other)
        counts[2].update(one)
    return _table(*counts)


def _table(right: Counter[str], predicted: Counter[str], true: Counter[str]) -> dict[str, Hits]:
    return {name: Hits(right[name], predicted[name], true[name]) for name in sorted(predicted.keys() | true.keys())}


def _interval(parts: np.ndarray, wholes: np.ndarray) -> tuple[float, float]:
    """95 % bootstrap interval of sum(parts) / sum(wholes) over sentences."""
    random, found = np.random.default_rng(0), np.zeros(DRAWS)
    for draw in range(DRAWS):
        chosen = random.integers(0, len(parts), len(parts))
        found[draw] = parts[chosen].sum() / max(wholes[chosen].sum(), 1)
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)
