"""What a run of a classifier does: `predict`, and `evaluate` by its labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from foresay.data.batch import Batch
from foresay.data.labels import Labels
from foresay.data.pair_batches import padded
from foresay.data.prepare import prepare
from foresay.errors import UserError
from foresay.models.labelling import Labelling
from foresay.parts import fits
from foresay.recipe import Recipe
from foresay.text.tokens import Tokens
from foresay.train.classified import classify
from foresay.train.resume import own_prepared

AT_ONCE = 64  # texts read together
Prediction = tuple[str | tuple[str, ...], dict[str, float]]


class Classifying:
    """Mixed into a run whose model gives labels to texts."""

    folder: Path
    recipe: Recipe
    tokens: Tokens
    model: Any

    @torch.inference_mode()
    def predict(self, texts: str | Sequence[str]) -> list[Prediction]:
        """Of each text its label and the probability of every label; where there may be several, a tuple of labels."""
        given = fits(list[str], [texts] if isinstance(texts, str) else list(texts), "texts")
        model, longest = self.model.eval(), self.recipe.train.batches.longest
        assert isinstance(model, Labelling)
        rows = [ids[:longest] for ids in self.tokens.encode_many(given)] if given else []
        for number, row in enumerate(rows, 1):
            if not len(row):
                raise UserError(f"text {number} of {len(rows)}, {given[number - 1]!r}, has no tokens; give some words")
        order = sorted(range(len(rows)), key=lambda row: len(rows[row]))  # like lengths together
        found: dict[int, Prediction] = {}
        for first in range(0, len(order), AT_ONCE):
            some = order[first : first + AT_ONCE]
            ids, mask = padded([rows[row] for row in some], max(len(rows[row]) for row in some))
            p = model.log_probs(Batch(ids=ids, mask=mask).to(model.device)).double().exp().tolist()
            found |= {row: self._named(each) for row, each in zip(some, p, strict=True)}
        return [found[row] for row in range(len(rows))]

    def _named(self, p: list[float]) -> Prediction:
        names = self.model.labels.names
        shares = dict(zip(names, p, strict=True))
        if self.model.labels.several:
            return tuple(name for name in names if shares[name] >= 0.5), shares
        return max(names, key=lambda name: shares[name]), shares

    def evaluate(
        self,
        data: str | None = None,
        *,
        split: str = "valid",
        limit: int | None = None,
        encoding: str | None = None,
        rows: int | None = None,
    ) -> Any:
        """A `Classified`, of the run's own held-out texts (`valid` or `test`) or of another table."""
        if split not in ("valid", "test"):
            raise UserError(f"split={split!r}; allowed: valid, test")
        if rows is not None:
            raise UserError(f"rows={rows}, but only streams are read in rows; leave it out")
        if data is None:
            prepared = own_prepared(self.folder, self.recipe)
            shards = prepared.valid if split == "valid" else prepared.test
        else:
            read = self.recipe.data.read
            corpus = Labels(str(data), share=0.0, read=replace(read, encoding=encoding or read.encoding))
            corpus.known = self.model.labels
            prepared = prepare(corpus, self.tokens, self.recipe.seed, learnt=True)
            shards = {"valid": prepared.valid, "test": prepared.test}[split] or prepared.train
        if shards is None:
            raise UserError(f"the run has no {split} texts; give data.{split} in its recipe, or a table to measure on")
        return classify(self.model, self.recipe.train.batches, shards, limit=limit)
