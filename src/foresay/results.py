"""What a run gives back: a text with its score, a text that was found, vectors of a text's words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from foresay.decode.search import Found
from foresay.train.evaluate import perplexity


@dataclass(frozen=True)
class Scored:
    """The score of one text: a log-probability (nats) for each token, <stop> too where the run counts it."""

    text: str
    tokens: list[str]
    log_probs: list[float]
    pseudo: bool = False  # each token given all others, by a model that sees both sides

    @property
    def nats(self) -> float:
        """-log P of the text; of a model that sees both sides, minus its pseudo-log-likelihood."""
        return 0.0 - math.fsum(self.log_probs)

    @property
    def perplexity(self) -> float:
        return perplexity(self.nats / len(self.log_probs)) if self.log_probs else 1.0

    def as_dict(self) -> dict[str, Any]:
        spread = [{"token": t, "nats": 0.0 - p} for t, p in zip(self.tokens, self.log_probs, strict=True)]
        about = {"text": self.text, "nats": self.nats, "perplexity": self.perplexity}
        about |= {"pseudo": True} if self.pseudo else {}
        about |= {"impossible": True} if math.isinf(self.nats) else {}  # nats are null in JSON then
        return about | {"tokens": spread}


@dataclass(frozen=True)
class Written:
    """A text that a search found: its new tokens, and their log-probabilities and score."""

    text: str
    tokens: list[str]
    found: Found

    def as_dict(self) -> dict[str, Any]:
        about = {"text": self.text, "score": self.found.score, "log_prob": self.found.log_prob}
        return about | {"finished": self.found.finished, "tokens": self.tokens, "log_probs": self.found.log_probs}


@dataclass(frozen=True)
class Embedded:
    """The vectors of a text's tokens in their context: of each layer (T, width), h_0 = [x; x] the first."""

    text: str
    tokens: list[str]
    layers: list[Tensor]

    def as_dict(self) -> dict[str, Any]:
        return {"text": self.text, "tokens": self.tokens, "layers": [layer.tolist() for layer in self.layers]}
