"""How surprising each word of a sentence is to a model: -log P summed over the word's tokens."""

from __future__ import annotations

import math
from dataclasses import dataclass

from foresay.run import Run


@dataclass(frozen=True)
class Surprise:
    """A word and its -log P in nats, given all before it."""

    text: str
    nats: float


def surprise(run: Run, sentence: str) -> list[Surprise]:
    """The words of a sentence (split at blanks) with their nats; a token belongs to the word it ends in."""
    ids = run.tokens.encode(sentence).tolist()
    log_probs = run.score(sentence)[0].log_probs[: len(ids)]
    words: list[list[float]] = []
    texts = sentence.split()
    for count, log_prob in enumerate(log_probs, 1):
        begun = len(run.tokens.decode(ids[:count]).split())
        while len(words) < begun:
            words.append([])
        (words[-1] if words else []).append(-log_prob)
    return [Surprise(text, math.fsum(nats)) for text, nats in zip(texts, words, strict=False)]
