"""Tagger: embedding, encoder, and for each word a tag.

    y = encoder(embedding(words)),   e_t = W y_t + b,   P(tags | words) by a softmax each, or by a CRF (output/crf.py)

Any encoder fits; one that sees both sides sees what follows the word too. While training, `unknown` is the share of
words read as <unk>, so that it knows what to make of one (its letters stay), and `dropout` is on y. `beside` is another
embedding, of the same words, that joins y: ELMo at the output, y' = [y; ELMo].

ids (B, T) -> e (B, T, K).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import torch
from torch import Tensor, nn

from foresay.data.batch import Batch
from foresay.embed.embedding import Embedding
from foresay.encode.encoder import Encoder
from foresay.kernels.dropout import dropout
from foresay.models.tagging import Tagging
from foresay.output.crf import CRF, Apart
from foresay.output.rows import full
from foresay.parts import Share, part
from foresay.text.tokens import UNK

BOTH_SIDES: Any = {"kind": "recurrent", "bidirectional": True}


@part("task", "tagger")
class Tagger(Tagging):
    """Embedding and encoder that give every word a tag, each by itself or in a chain."""

    def __init__(
        self,
        embedding: Embedding | str = "lookup",
        encoder: Encoder | str = BOTH_SIDES,
        output: Literal["softmax", "crf"] = "crf",
        dropout: Share = 0.0,
        unknown: Share = 0.0,
        beside: Embedding | str | None = None,
    ):
        super().__init__()
        assert isinstance(embedding, Embedding) and isinstance(encoder, Encoder) and not isinstance(beside, str)
        self.beside = beside
        self.embedding, self.encoder, self.chain = embedding, encoder, output == "crf"
        self.dropout, self.unknown = dropout, unknown

    def build(self, vocabulary: int) -> None:
        self.vocabulary = vocabulary
        self.embedding.build(vocabulary)
        self.encoder.build(self.embedding.width)
        width = self.encoder.width
        if self.beside is not None:
            self.beside.build(vocabulary)
            width += self.beside.width
        self.head = nn.Linear(width, self.kinds)
        self.layer = CRF(self.kinds) if self.chain else Apart()

    def scores(self, batch: Batch) -> Tensor:
        assert batch.ids is not None
        if self.training and self.unknown:
            hidden = torch.rand(batch.ids.shape, device=batch.ids.device) < self.unknown
            letters = batch.ids if batch.spelt is None else batch.spelt
            batch = replace(batch, ids=batch.ids.masked_fill(hidden, UNK), spelt=letters)
        y, _ = self.encoder(self.embedding(batch), batch.mask)
        if self.beside is not None:
            y = torch.cat([y, self.beside(batch)], 2)
        return full(self.head(dropout(y, self.dropout, self.training)))
