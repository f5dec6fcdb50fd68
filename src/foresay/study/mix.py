"""How well several runs do together: their mixture, with weights fitted on one text and measured on another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from foresay.data.shards import Shards
from foresay.errors import UserError
from foresay.models.mixture import Mixture, fit_weights
from foresay.run import Run
from foresay.text.tokens import STOP
from foresay.train.evaluate import perplexity
from foresay.train.resume import own_prepared


@dataclass(frozen=True)
class Mixed:
    """The mixture, and the perplexity of each member and of all together on the text that was not fitted on."""

    model: Mixture
    names: list[str]
    weights: list[float]
    alone: list[float]
    together: float
    tokens: int

    def as_dict(self) -> dict[str, Any]:
        members = [
            {"run": name, "weight": weight, "perplexity": alone}
            for name, weight, alone in zip(self.names, self.weights, self.alone, strict=True)
        ]
        return {"members": members, "perplexity": self.together, "tokens": self.tokens}


def mix(runs: Sequence[Run]) -> Mixed:
    """Weights from the first run's validation text, perplexities on its test text, or on the second half where it has
    none. Every document begins from a fresh state, as in all that the mixture is then used for. All runs must have been
    trained on one prepared vocabulary."""
    if len(runs) < 2:
        raise UserError(f"{'one run is' if runs else 'no runs are'} no mixture; give two or more")
    first = runs[0]
    for run in runs:
        if not run.model.sequence:
            name = run.recipe.task.part_name
            raise UserError(
                f"{run.folder} is of task {name}, which knows no probability of a text; mix language models"
            )
        if not run.model.causal:
            raise UserError(f"{run.folder} sees both sides and knows no P of a text; mix language models")
    for other in runs[1:]:
        if other.tokens.pieces(range(len(other.tokens))) != first.tokens.pieces(range(len(first.tokens))):
            raise UserError(
                f"{other.folder} has another vocabulary than {first.folder}; train both with the same data and tokens"
            )
    if first.folder.is_file():
        raise UserError(f"{first.folder} is a file without a validation text to fit weights on; name a run first")
    prepared = own_prepared(first.folder, first.recipe)
    if prepared.valid is None:
        raise UserError(f"{first.folder} has no validation text to fit weights on; give data.valid in its recipe")
    found = np.stack([token_log_probs(run, prepared.valid) for run in runs])
    if prepared.test is not None:
        weights = fit_weights(found)
        measured = np.stack([token_log_probs(run, prepared.test) for run in runs])
    else:
        half = half_of(prepared.valid)
        weights, measured = fit_weights(found[:, :half]), found[:, half:]
    mixed = np.logaddexp.reduce(measured + np.log(np.maximum(weights, 1e-300))[:, None], 0)
    return Mixed(
        Mixture([run.model for run in runs], weights),
        [str(Path(run.folder)) for run in runs],
        weights,
        [perplexity(-float(row.mean())) for row in measured],
        perplexity(-float(mixed.mean())),
        measured.shape[1],
    )


def half_of(shards: Shards) -> int:
    """Where a text is cut in two: at the end of the document that its middle stands in, if another follows."""
    middle = len(shards) // 2
    ends = np.flatnonzero(shards.slice(middle - 1, len(shards)) == STOP)
    after = middle + int(ends[0]) if len(ends) else len(shards)
    return after if after < len(shards) else middle


@torch.inference_mode()
def token_log_probs(run: Run, shards: Shards) -> np.ndarray:
    """log P of every token of a text in its order, each document by itself."""
    batches = run.recipe.train.batches
    if batches.carries:
        batches = batches.in_rows(1, reset=True)
    run.model.eval()
    found, state = [], None
    for batch in batches.evaluation(shards):
        log_probs, state = run.model.measure(batch.to(run.model.device), state)
        rows = log_probs.double().cpu()
        found.append((rows[batch.mask] if batch.mask is not None else rows.flatten()).numpy())
    return np.concatenate(found)
