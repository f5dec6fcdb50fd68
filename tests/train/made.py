"""Models, texts and trainers made small for the tests of this folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from foresay import recipe as recipes
from foresay.building import build
from foresay.data.batch import Batch
from foresay.data.corpus import Corpus
from foresay.data.prepare import Prepared, prepare
from foresay.models.task import Task
from foresay.text.tokens import Tokens
from foresay.train.loop import Trainer
from foresay.train.progress import Watch


def prepared_text(path: Path, text: str, tokens: Tokens, unit: str = "document") -> Prepared:
    """A text without a held-out part."""
    path.write_text(text, "utf-8")
    return prepare(Corpus(train=str(path), unit=unit, share=0.0), tokens, 1)


def model_for(recipe: dict[str, Any], vocabulary: int) -> Task:
    """The model of a recipe with its first weights, ready to measure."""
    return build(recipes.complete(recipes.read(recipe)), vocabulary, torch.device("cpu")).eval()


def make_trainer(
    recipe: dict[str, Any], folder: Path, *words: str, watch: Watch | None = None, device: str = "cpu"
) -> Trainer:
    """A trainer at step 0, as `foresay.train` makes it."""
    checked = recipes.complete(recipes.override(recipes.read(recipe), list(words))[0])
    prepared = prepare(checked.data, checked.tokens, checked.seed)
    model = build(checked, len(prepared.tokens), torch.device(device))
    folder.mkdir(parents=True, exist_ok=True)
    return Trainer(model, checked.train, prepared, checked.seed, folder, watch or Watch())


class Notes(Watch):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def batches(trainer: Trainer, first: int, count: int) -> list[Batch]:
    return [trainer.order.batch(step) for step in range(first, first + count)]


def weights(trainer: Trainer) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in trainer.model.tensors().items()}


def equal(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)
