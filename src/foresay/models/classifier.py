"""A neural classifier of texts: embedding, encoder, pool, one linear layer for the labels.

    y_1 ... y_T = encoder(embedding(w_1 ... w_T))
    over features:  z = pool(y) W + b                       scores of the labels; labelling.py makes P of them
    over outputs:   Y_t = softmax(y_t W + b),  P = pool(Y) up to its sum

`pool: {kind: max, over: outputs}` is P(c) proportional to max_t Y_t(c): one step that is sure decides (keywords).
In the logarithm `mean` is the geometric mean, and `last` the last step's answer. Where there are several labels Y_t is
a sigmoid for each, and `max` gives max_t Y_t itself.

Without an encoder (`encoder: null`) the pool reads the embeddings: with `mean` these are averaged, and the order of the
words counts for nothing. `beside` is another embedding, of the same words, that joins y: ELMo at the output, [y; ELMo].
With `agreement` every text is read twice in training, and the two answers should be one (agreement.py).

batch (B, T) -> z (B, C).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from foresay.data.batch import Batch
from foresay.embed.embedding import Embedding
from foresay.encode.encoder import Encoder, State
from foresay.encode.pool import Pool
from foresay.errors import UserError
from foresay.kernels.dropout import dropout
from foresay.models.agreement import apart, apart_each, twice
from foresay.models.labelling import Labelling, Weights
from foresay.parts import Amount, Share, part

BOTH_WAYS: Any = {"kind": "recurrent", "bidirectional": True}


@part("task", "classifier")
class Classifier(Labelling):
    """Embedding, encoder (or none), pool and a linear layer that give labels to texts."""

    notes: Sequence[str] = ()  # what a person should know of it, once it is built

    def __init__(
        self,
        embedding: Embedding | str = "lookup",
        encoder: Encoder | str | None = BOTH_WAYS,
        pool: Pool | str = "max",
        dropout: Share = 0.0,
        agreement: Amount = 0.0,
        weights: Weights = None,
        beside: Embedding | str | None = None,
        calibrate: bool = True,  # the probabilities, on the validation text after training
    ):
        super().__init__()
        assert isinstance(embedding, Embedding) and isinstance(pool, Pool) and not isinstance(encoder, str)
        self.embedding, self.encoder, self.pool = embedding, encoder, pool
        assert not isinstance(beside, str)
        self.dropout, self.beside, self.calibrate = dropout, beside, calibrate
        self.agreement = agreement
        self.weighing: Weights = weights
        if pool.part_name == "ends" and beside is not None:
            raise UserError(
                "pool=ends takes halves of the encoder's vectors, and beside joins others to them; set pool=max, mean "
                "or attention, or join what beside has to the embedding"
            )
        if pool.part_name == "ends" and (encoder is None or not encoder.halves):
            raise UserError(
                "pool=ends takes the last step of one direction and the first of the other, and this encoder has not "
                "the two; set encoder=recurrent encoder.bidirectional=true, or pool=max, mean or attention"
            )

    def build(self, vocabulary: int) -> None:
        self.vocabulary = vocabulary
        self.embedding.build(vocabulary)
        width = self.embedding.width
        if self.encoder is not None:
            self.encoder.build(width)
            width = self.encoder.width
        if self.beside is not None:
            self.beside.build(vocabulary)
            width += self.beside.width
        names = len(self.labels.names)
        self.pool.build(width if self.pool.over == "features" else names)
        self.classes = nn.Linear(self.pool.width if self.pool.over == "features" else width, names)
        self.weigh(self.weighing)
        if self.calibrate:
            self.register_buffer("temperature", torch.ones(()))
        if self.pool.part_name == "last" and self.encoder is not None and self.encoder.halves:
            self.notes = [
                f"warning: pool=last: the direction that reads backwards has read one word there; {self._instead()}"
            ]

    def _instead(self) -> str:
        """What to take in place of the last step of both directions, among what is allowed here."""
        if self.beside is not None:
            return "pool=max, mean or attention reads every step"
        ends = "pool=ends" if self.pool.over == "features" else "pool=ends, over features,"
        return f"{ends} takes each where it has read all"

    def restore(self, tensors: dict[str, Tensor], source: str = "the checkpoint") -> None:
        """Takes over what `tensors` gave; runs from before there was a temperature have none."""
        first = {"temperature": torch.ones(())} if self.calibrate else {}
        super().restore(first | tensors, source)

    def loss(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        if not self.training or not self.agreement:
            return super().loss(batch, state)
        batch = twice(batch)
        assert batch.labels is not None
        z = self.scores(batch)
        differ = apart_each(z) if self.labels.several else apart(z.log_softmax(1))
        loss, more = self.loss_of(z, batch.labels), self.agreement * differ.mean()
        return loss + (more - more.detach()), {}  # the gradient of both, the value of the loss

    def scores(self, batch: Batch) -> Tensor:
        return self.read(self.vectors(batch), batch.mask)

    def vectors(self, batch: Batch) -> list[Tensor]:
        """What is read: x (B, T, D) of the embedding, and of `beside` where there is one."""
        return [one(batch) for one in (self.embedding, self.beside) if one is not None]

    def read(self, vectors: list[Tensor], mask: Tensor | None = None) -> Tensor:
        """z (B, C) of the vectors of words."""
        x, *beside = vectors
        y = x if self.encoder is None else self.encoder(x, mask)[0]
        y = torch.cat([y, *beside], 2) if beside else y
        if self.pool.over == "features":
            return self.classes(dropout(self.pool(y, mask), self.dropout, self.training))
        z = self.classes(dropout(y, self.dropout, self.training))
        return self.pool(z if self.labels.several else z.log_softmax(2), mask)
