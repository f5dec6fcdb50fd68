"""Measuring a recogniser: how many symbols are wrong, how many texts are right, and the loss.

    error rate    symbols to insert, delete or exchange until text and reference are equal, / symbols of the references
    exact         the share of recordings whose text is right from end to end
    loss          mean -log P(text | recording) a symbol

Intervals are 95 %, by a bootstrap over recordings. Without a search the text is that of the best path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from foresay.data.batches import Batches
from foresay.data.shards import Shards
from foresay.models.recogniser import Recogniser
from foresay.output.ctc import BLANK, best_path, log_likelihood
from foresay.train.evaluate import bootstrap, told
from foresay.train.overlap import distance

Decode = Callable[[Tensor, Tensor], list[list[int]]]  # log p (B, T, V) and sizes (B,) -> texts
Interval = tuple[float, float]


@dataclass(frozen=True)
class SpeechFigures:
    """What an evaluation of a recogniser gives; `recordings` of `of` were heard."""

    loss: float
    error_rate: float
    error_interval: Interval
    exact: float
    exact_interval: Interval
    recordings: int
    of: int
    symbols: int
    tokens: int = 0  # the frames that were heard
    notes: tuple[str, ...] = ()

    def spelt(self) -> str:
        """In a line."""
        rate, exact = 100 * self.error_rate, 100 * self.exact
        return f"valid loss {told(self.loss, 4)}, symbol error rate {rate:.2f} %, exact {exact:.2f} %"

    def as_dict(self) -> dict[str, Any]:
        return {
            "loss": self.loss,
            "error_rate": self.error_rate,
            "error_rate_interval": list(self.error_interval),
            "exact": self.exact,
            "exact_interval": list(self.exact_interval),
            "recordings": self.recordings,
            "of_recordings": self.of,
            "symbols": self.symbols,
            "frames": self.tokens,
        }


@torch.inference_mode()
def measure_speech(
    model: Recogniser, batches: Batches, shards: Shards, *, limit: int | None = None, decode: Decode = best_path
) -> SpeechFigures:
    """Every recording once and in order; at most about `limit` frames."""
    was_training, nats, frames = model.training, 0.0, 0
    model.eval()
    texts: list[list[int]] = []
    found: list[list[int]] = []
    for batch in batches.evaluation(shards):
        here = batch.to(model.device)
        assert here.targets is not None and batch.targets is not None
        log_p, sizes = model.log_probs(here)
        nats -= float(log_likelihood(log_p, here.targets, sizes).double().sum())
        found += decode(log_p, sizes)
        texts += [[one for one in row if one != BLANK] for row in batch.targets.tolist()]
        frames += batch.tokens
        if limit is not None and frames >= limit:
            break
    model.train(was_training)
    return replace(figures(texts, found, nats=nats, of=shards.documents), tokens=frames)


def figures(texts: Sequence[list[int]], found: Sequence[list[int]], *, nats: float, of: int) -> SpeechFigures:
    """The figures of texts and what was found for them."""
    wrong = np.array([distance(one, other) for one, other in zip(found, texts, strict=True)], float)
    sizes = np.array([max(len(text), 1) for text in texts], float)
    right = np.array([one == other for one, other in zip(texts, found, strict=True)], float)
    return SpeechFigures(
        loss=nats / float(sizes.sum()),
        error_rate=float(wrong.sum() / sizes.sum()),
        error_interval=bootstrap(wrong, sizes),
        exact=float(right.mean()),
        exact_interval=bootstrap(right, np.ones_like(right)),
        recordings=len(texts),
        of=of,
        symbols=sum(map(len, texts)),
    )
