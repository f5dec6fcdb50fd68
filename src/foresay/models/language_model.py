"""Causal language model: P(w_1 .. w_T) = prod_t P(w_t | w_1 .. w_{t-1}).

    x_t = embedding(w_{t-1}),  y_t = encoder(x_1 .. x_t),  P(w_t | ...) = output(y_t),  w_0 = <start>

Any causal encoder fits: recurrent with carried state, a fixed window, a Transformer with its cache. The state
is the encoder's state and the features (B, H) that predict the next symbol.
"""

from __future__ import annotations

import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.embed.embedding import Embedding
from foresay.encode.encoder import Encoder, State
from foresay.errors import UserError
from foresay.models.task import Task, last_real, masked
from foresay.output.output import Output
from foresay.parts import part
from foresay.text.tokens import START


@part("task", "language-model")
class LanguageModel(Task):
    """Embedding, causal encoder and output layer that predict the next symbol."""

    def __init__(
        self,
        embedding: Embedding | str = "lookup",
        encoder: Encoder | str = "recurrent",
        output: Output | str = "softmax",
    ):
        super().__init__()
        assert isinstance(embedding, Embedding) and isinstance(encoder, Encoder) and isinstance(output, Output)
        if not encoder.causal:
            raise UserError(
                "encoder is bidirectional and would see the answer a language model must predict; "
                "allowed: a causal one: set encoder.bidirectional=false"
            )
        self.embedding, self.encoder, self.output = embedding, encoder, output

    def build(self, vocabulary: int) -> None:
        self.vocabulary = vocabulary
        self.embedding.build(vocabulary)
        self.encoder.build(self.embedding.width)
        self.output.build(self.encoder.width, vocabulary, self.embedding.weight())

    def loss(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        features, state = self._features(batch, state)
        assert batch.targets is not None
        return self.output.loss(features, batch.targets, batch.mask), state

    def measure(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        features, state = self._features(batch, state)
        assert batch.targets is not None
        return masked(self.output.log_prob(features, batch.targets), batch.mask), state

    def begin(self, rows: int, condition: Tensor | None = None, capacity: int | None = None) -> State:
        start = torch.full((rows, 1), START, device=self.device)
        inner = self.encoder.begin(rows, None if capacity is None else capacity + 1)
        y, inner = self.encoder(self.embedding(Batch(ids=start)), None, inner, condition=condition)
        return {"encoder": inner, "features": y[:, -1]}

    def step(self, ids: Tensor, state: State, mask: Tensor | None = None) -> tuple[Tensor, State]:
        if ids.shape[1] == 0:  # an empty prompt: what follows <start>
            return self.output.log_probs(state["features"]), state
        y, inner = self.encoder(self.embedding(Batch(ids=ids)), mask, state["encoder"])
        features = last_real(y, state["features"], mask)
        return self.output.log_probs(features), {"encoder": inner, "features": features}

    def score(
        self, ids: Tensor, mask: Tensor | None = None, condition: Tensor | None = None, state: State | None = None
    ) -> tuple[Tensor, State]:
        state = state if state is not None else self.begin(len(ids), condition)
        y, inner = self.encoder(self.embedding(Batch(ids=ids)), mask, state["encoder"])
        features = torch.cat([state["features"][:, None], y], 1)[:, :-1]
        after = {"encoder": inner, "features": last_real(y, state["features"], mask)}
        return masked(self.output.log_prob(features, ids), mask), after

    def _features(self, batch: Batch, state: State | None) -> tuple[Tensor, State]:
        state = None if batch.fresh else state
        return self.encoder(self.embedding(batch), batch.mask, state, starts=batch.starts)
