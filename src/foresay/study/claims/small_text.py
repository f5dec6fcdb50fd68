"""Small language models over the letters of the built-in text, for claims on recurrent networks.

    loss = mean -log P(next letter) of the held-out text, nats          windows of `length`, each from a fresh state

The text is the Python reference, its paragraphs in an order drawn by the seed, a tenth of them held out; its alphabet
is small letters, blanks, and the signs that are frequent. Every network of a seed learns the same windows.
"""

from __future__ import annotations

import functools
import math
import random
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.data.builtin import python_reference
from foresay.models.language_model import LanguageModel
from foresay.parts import make
from foresay.study.claims.training import one_thread, updating
from foresay.study.recall import nearest_width
from foresay.text.tokens import SPECIALS, UNK

LETTERS = 60  # the most frequent
EMBEDDED = 24


@dataclass(frozen=True)
class Size:
    """Updates of a network, and windows and letters of each; how many windows of the held-out text are asked of."""

    updates: int
    rows: int = 16
    length: int = 32
    asked: int = 128
    rate: float = 5e-3


@dataclass(frozen=True)
class Text:
    """Ids of the text that is learnt and of that held out, and how many symbols there are."""

    learnt: Tensor
    held_out: Tensor
    vocabulary: int


@functools.cache
def text_of(seed: int) -> Text:
    """The built-in text by letters."""
    paragraphs = [one.lower() for one in re.split(r"\n\s*\n", python_reference().decode()) if len(one) > 40]
    counts = Counter("".join(paragraphs))
    ids = {letter: row for row, (letter, _) in enumerate(counts.most_common(LETTERS), len(SPECIALS))}
    random.Random(seed).shuffle(paragraphs)
    cut = len(paragraphs) // 10
    held_out, learnt = ("\n\n".join(own) for own in (paragraphs[:cut], paragraphs[cut:]))
    return Text(numbered(learnt, ids), numbered(held_out, ids), len(SPECIALS) + LETTERS)


def numbered(letters: str, ids: Mapping[str, int]) -> Tensor:
    """Letters as ids; those that have none are unknown."""
    return torch.tensor([ids.get(one, UNK) for one in letters])


def build(encoder: Mapping[str, Any], seed: int, vocabulary: int) -> LanguageModel:
    """A language model around a recurrent encoder, with the first weights of a seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model: LanguageModel = make("task", {
            "kind": "language-model", "embedding": {"kind": "lookup", "size": EMBEDDED},
            "encoder": {"kind": "recurrent", **encoder}, "output": {"kind": "softmax", "tied": False},
        })  # fmt: skip
        model.build(vocabulary)
    return model


def width_for(encoder: Mapping[str, Any], parameters: int, vocabulary: int) -> int:
    """The width of an encoder with which the whole model has as nearly that many parameters as can be."""
    return nearest_width(lambda width: build({**encoder, "size": width}, 1, vocabulary), parameters)


def learn(model: LanguageModel, text: Text, size: Size, seed: int) -> float:
    """Trains a model; the loss on the text held out. Without end where it is no number any more."""
    chance = torch.Generator().manual_seed(seed)
    steps = updating(model, lambda _: model.loss(windows(text.learnt, size.rows, size.length, chance))[0], size.rate)
    with one_thread():
        for _ in range(size.updates):
            next(steps)
        return held_out_loss(model, text, size)


@torch.no_grad()
def held_out_loss(model: LanguageModel, text: Text, size: Size) -> float:
    """Mean -log P over windows of the held-out text, the same for every model of a seed; the first half of each is
    read for its sake alone."""
    batch = windows(text.held_out, size.asked, 2 * size.length, torch.Generator().manual_seed(-1))
    loss = -float(model.eval().measure(batch)[0][:, size.length :].double().mean())
    return loss if math.isfinite(loss) else math.inf


def windows(ids: Tensor, rows: int, length: int, chance: torch.Generator) -> Batch:
    """Pieces of a text by chance."""
    starts = torch.randint(len(ids) - length, (rows, 1), generator=chance)
    found = ids[starts + torch.arange(length + 1)]
    return Batch(ids=found[:, :-1], targets=found[:, 1:])
