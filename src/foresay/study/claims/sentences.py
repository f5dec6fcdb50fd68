"""A trigram of the built-in text's paragraphs, and what it writes: for the claims on decoding."""

from __future__ import annotations

from typing import Any

import torch

from foresay.decode.generate import generate
from foresay.decode.sample import Sample
from foresay.parts import make
from foresay.study.claims.words_text import built_in

ORDER = 3


def learn(seed: int) -> Any:
    """Modified Kneser-Ney over words, without the paragraphs that the seed holds out."""
    text, _ = built_in(seed)
    model = make("task", {"kind": "ngram", "order": ORDER})
    model.build(len(text.words))
    model.fit(text)
    return model.eval()


def write(model: Any, number: int, length: int, seed: int, temperature: float = 1.0) -> list[list[int]]:
    """So many texts of at most `length` words, drawn from the beginning of a paragraph on."""
    return generate(model, [[]] * number, Sample(temperature), length=length, seed=seed)


@torch.inference_mode()
def log_prob(model: Any, ids: list[int]) -> float:
    """log P of a text, by the model alone."""
    return float(model.score(torch.tensor([ids]))[0].double().sum())
