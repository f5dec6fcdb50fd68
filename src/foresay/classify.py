"""What a run of a classifier does: `predict`, and what `evaluate` reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from foresay.data.batch import Batch
from foresay.data.labels import LabelReading, Labels
from foresay.data.row_batches import padded
from foresay.data.strange import spelt, words_of
from foresay.errors import TextError
from foresay.measuring import Measuring
from foresay.models.labelling import Labelling
from foresay.text.given import texts_of

AT_ONCE = 64  # texts read together
Prediction = tuple[str | tuple[str, ...], dict[str, float]]


class Classifying(Measuring):
    """Mixed into a run whose model gives labels to texts."""

    read_whole, cut_off = 0, 0  # texts that `predict` has read to their end, and those that it has not

    @torch.inference_mode()
    def predict(self, texts: str | Sequence[str]) -> list[Prediction]:
        """Of each text its label and the probability of every label; where there may be several, a tuple of labels."""
        given = texts_of(texts)
        self._check_two(given)
        rows = self.tokens.encode_many(given) if given else []
        for number, row in enumerate(rows, 1):
            if not len(row):
                raise TextError(number, len(rows), f"has no tokens ({given[number - 1][:60]!r}); give some words")
        return self.answers(rows, lambda some: self._batch([given[row] for row in some], [rows[row] for row in some]))

    def answers(self, rows: Sequence[np.ndarray], batch_of: Callable[[list[int]], Batch]) -> list[Prediction]:
        """The same of rows of ids; `batch_of` makes a batch of some by their numbers."""
        model = self.model.eval()
        assert isinstance(model, Labelling)
        long = sum(len(row) > self.recipe.train.batches.longest for row in rows)
        self.read_whole, self.cut_off = self.read_whole + len(rows) - long, self.cut_off + long
        order = sorted(range(len(rows)), key=lambda row: len(rows[row]))  # like lengths together
        found: dict[int, Prediction] = {}
        for first in range(0, len(order), AT_ONCE):
            some = order[first : first + AT_ONCE]
            p = model.log_probs(batch_of(some).to(model.device)).double().exp().tolist()
            found |= {row: self._named(each) for row, each in zip(some, p, strict=True)}
        return [found[row] for row in range(len(rows))]

    def _check_two(self, texts: Sequence[str]) -> None:
        """Refuses a single text where the run has learnt from two joined: its answer would mean nothing."""
        data = self.recipe.data
        if not (isinstance(data, Labels) and data.two):
            return
        for number, text in enumerate(texts, 1):
            if data.read.between not in text.split():
                why = f"is one text, and the run labels pairs; put {data.read.between} between two, blanks around it"
                raise TextError(number, len(texts), f"{why}, or name both columns of a table")

    def batch_of(self, text: str) -> Batch:
        """A text as the model reads it: its first tokens, and the letters of those it does not know."""
        return self._batch([text], self.tokens.encode_many([text]))

    def _batch(self, texts: Sequence[str], rows: Sequence[np.ndarray]) -> Batch:
        longest = self.recipe.train.batches.longest
        words = [words_of(self.tokens, text, row.tolist()) for text, row in zip(texts, rows, strict=True)]
        cut = [row[:longest] for row in rows]
        ids, mask = padded(cut, max(map(len, cut)))
        return spelt(Batch(ids=ids, mask=mask), words, self.tokens)

    def _named(self, p: list[float]) -> Prediction:
        names = self.model.labels.names
        shares = dict(zip(names, p, strict=True))
        if self.model.labels.several:
            return tuple(name for name in names if shares[name] >= 0.5), shares
        return max(names, key=lambda name: shares[name]), shares

    def _corpus(self, data: Any, split: str, read: LabelReading) -> Labels:
        """Another table, read as the run's was and held to its labels."""
        corpus = Labels(str(data), share=0.0, read=read)
        corpus.known = self.model.labels
        return corpus
