"""Causal language model: P(w_1 .. w_T) = prod_t P(w_t | w_1 .. w_{t-1}).

    x_t = embedding(w_{t-1}),  y_t = encoder(x_1 .. x_t),  P(w_t | ...) = output(y_t),  w_0 = <start>

Any causal encoder fits: recurrent with carried state, a fixed window, a Transformer with its cache. The state
is the encoder's state and the features (B, H) that predict the next symbol.

With a `condition`, the text is written for a label n: c = C_n, a row of a learnt table of that width. An encoder that
takes a condition sees c at every step; before any other, x_t = embedding(w_{t-1}) + U c.

While training, y may be dropped out before the output layer, y~ = dropout(y), and regularised (Merity et al. 2017): the
gradient is that of

    loss + activation mean(y~_t^2) + slowness mean((y_t - y_{t-1})^2)

while the loss alone is what is returned, reported and compared.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from foresay.data.batch import Batch
from foresay.data.label_shards import LabelSet
from foresay.embed.dropout import drop
from foresay.embed.embedding import Embedding
from foresay.encode.encoder import Encoder, State
from foresay.errors import UserError
from foresay.models.task import Task, last_real, masked
from foresay.output.output import Output
from foresay.parts import Amount, Share, Size, part
from foresay.text.tokens import START


@dataclass(frozen=True)
class Regularise:
    """Dropout on the encoder's output, locked or not, and the weights of its size (AR) and of its changes (TAR)."""

    dropout: Share = 0.0
    locked: bool = False
    activation: Amount = 0.0
    slowness: Amount = 0.0


@part("task", "language-model")
class LanguageModel(Task):
    """Embedding, causal encoder and output layer that predict the next symbol."""

    labels = LabelSet(("0", "1"), False, (1, 1))  # that texts are written for, until it is told others

    def __init__(
        self,
        embedding: Embedding | str = "lookup",
        encoder: Encoder | str = "recurrent",
        output: Output | str = "softmax",
        regularise: Regularise = Regularise(),  # noqa: B008 - frozen
        condition: Size | None = None,
    ):
        super().__init__()
        assert isinstance(embedding, Embedding) and isinstance(encoder, Encoder) and isinstance(output, Output)
        embedding.must_not_see_ahead()
        if not encoder.causal:
            raise UserError(
                "encoder sees what comes after and would see the answer a language model must predict; allowed: a "
                f"causal one: {encoder.how_one_way()}, or task=masked-lm"
            )
        self.embedding, self.encoder, self.output, self.regularise = embedding, encoder, output, regularise
        self.condition = condition

    def learn_labels(self, labels: LabelSet) -> None:
        """What texts may be written for; told before it is built."""
        if self.condition is not None and (labels.several or len(labels.names) < 2):
            why = "a text has several labels" if labels.several else "the data have no labels, or only one"
            raise UserError(f"condition={self.condition} writes for one label of some, and {why}; set condition=null")
        self.labels = labels

    def build(self, vocabulary: int) -> None:
        self.vocabulary = vocabulary
        self.embedding.build(vocabulary)
        if self.condition is not None:
            self.table = nn.Embedding(len(self.labels.names), self.condition)
            if self.encoder.takes_condition:
                self.encoder.condition_width = self.condition
            else:
                self.laid = nn.Linear(self.condition, self.embedding.width, bias=False)
        self.encoder.build(self.embedding.width)
        self.output.build(self.encoder.width, vocabulary, self.embedding.weight())

    def loss(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        features, state = self.features(batch, state)
        assert batch.targets is not None
        dropped = drop(features, self.regularise.dropout, self.training, locked=self.regularise.locked)
        loss = self.output.loss(dropped, batch.targets, batch.mask)
        if not self.training or not (self.regularise.activation or self.regularise.slowness):
            return loss, state
        penalty = self._penalty(features, dropped, batch.mask)
        return loss + (penalty - penalty.detach()), state  # the gradient of both, the value of the loss

    def _penalty(self, features: Tensor, dropped: Tensor, mask: Tensor | None) -> Tensor:
        """Mean squares over the units of all real positions; over all pairs of neighbours for the changes."""
        pairs = None if mask is None else mask[:, 1:]  # padding is on the right: what is real has a real neighbour
        size = mean_square(dropped, mask)
        change = mean_square(features[:, 1:] - features[:, :-1], pairs)
        return self.regularise.activation * size + self.regularise.slowness * change

    def measure(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        features, state = self.features(batch, state)
        assert batch.targets is not None
        return masked(self.output.log_prob(features, batch.targets), batch.mask), state

    def features(self, batch: Batch, state: State | None) -> tuple[Tensor, State]:
        """What the output layer reads of a batch, (B, T, H), and the encoder's state."""
        state = None if batch.fresh else state
        condition = None if self.condition is None else self._vectors(batch.given)
        return self._read(batch, batch.mask, state, condition)

    def begin(self, rows: int, condition: Tensor | None = None, capacity: int | None = None) -> State:
        """The state after <start>. The condition is the number of each row's label, (B,), where there are labels; else
        a vector for each, (B, C), that an encoder's first state is computed from."""
        start = torch.full((rows, 1), START, device=self.device)
        given = {} if self.condition is None else {"condition": self._vectors(condition)}
        own = condition if self.condition is None else None
        inner = None if own is not None else self.encoder.begin(rows, None if capacity is None else capacity + 1)
        y, inner = self._read(Batch(ids=start), None, inner, given.get("condition", own))
        return {"encoder": inner, "features": y[:, -1]} | given

    def step(self, ids: Tensor, state: State, mask: Tensor | None = None) -> tuple[Tensor, State]:
        if ids.shape[1] == 0:  # an empty prompt: what follows <start>
            return self.output.log_probs(state["features"]), state
        y, inner = self._read(Batch(ids=ids), mask, state["encoder"], state.get("condition"))
        features = last_real(y, state["features"], mask)
        return self.output.log_probs(features), state | {"encoder": inner, "features": features}

    def score(
        self, ids: Tensor, mask: Tensor | None = None, condition: Tensor | None = None, state: State | None = None
    ) -> tuple[Tensor, State]:
        state = state if state is not None else self.begin(len(ids), condition)
        y, inner = self._read(Batch(ids=ids), mask, state["encoder"], state.get("condition"))
        features = torch.cat([state["features"][:, None], y], 1)[:, :-1]
        after = state | {"encoder": inner, "features": last_real(y, state["features"], mask)}
        return masked(self.output.log_prob(features, ids), mask), after

    def trace(self, ids: Tensor, mask: Tensor | None = None) -> dict[str, Tensor]:
        """What the model computes while it reads <start> and ids (B, T): by name, each (B, 1 + T, width)."""
        start = torch.full((len(ids), 1), START, device=ids.device)
        x = self.embedding(Batch(ids=torch.cat([start, ids], 1)))
        whole = None if mask is None else torch.cat([torch.ones_like(start, dtype=torch.bool), mask], 1)
        found = self.encoder.trace(x, whole)
        return {"embedding": x, **{f"encoder.{name}": value for name, value in found.items()}}

    def _read(
        self, batch: Batch, mask: Tensor | None, state: State | None, condition: Tensor | None
    ) -> tuple[Tensor, State]:
        """The encoder's features of a batch; the condition goes to it, or is laid upon what it reads."""
        x = self.embedding(batch)
        if self.condition is not None and not self.encoder.takes_condition:
            assert condition is not None
            laid = self.laid(condition)
            x, condition = x + (laid if laid.ndim == 3 else laid[:, None]), None
        return self.encoder(x, mask, state, starts=batch.starts, condition=condition)

    def _vectors(self, given: Tensor | None) -> Tensor:
        """The vectors of labels by their numbers."""
        if given is None:
            raise UserError(f"this model writes for a label; give one: allowed: {', '.join(self.labels.names)}")
        return self.table(given)


def mean_square(x: Tensor, mask: Tensor | None) -> Tensor:
    """Mean of x^2 over the entries of the positions that the mask keeps, 0 when there are none: (B, T, H) -> ()."""
    squares = x.float().square() if x.dtype in (torch.bfloat16, torch.float16) else x.square()
    if mask is None:
        return squares.sum() / max(squares.numel(), 1)
    return squares.masked_fill(~mask[:, :, None], 0).sum() / (mask.sum() * x.shape[2]).clamp(min=1)
