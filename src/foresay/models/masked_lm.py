"""Masked language model (Devlin et al. 2019): P(w_t | w_1 .. w_{t-1}, w_{t+1} .. w_T), from both sides.

    y = encoder(embedding(w with some hidden)),  P(w_t | ...) = output(y_t)        at the hidden t alone

Some symbols are hidden while it learns (masking.py); a document ends with <stop>, which may be hidden too, and has no
<start>. Any encoder fits that sees both sides; packed documents (`starts`) see themselves alone. It knows no P of a
text, but

    PLL(w) = sum_t log P(w_t | all others)        the pseudo-log-likelihood, each t hidden alone: T passes over T steps

which `score` gives. `measure`, for evaluation, hides every k-th symbol at a time in k passes, k = round(1 / share): a
symbol is predicted once, from about as much as in training; exp of its mean -log P is the pseudo-perplexity.

ids (B, T) -> log P (B, T). Nothing is carried from batch to batch: the state is empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.embed.embedding import Embedding
from foresay.encode.encoder import Encoder, State
from foresay.errors import UserError
from foresay.models.masking import Masking, gathered, hide
from foresay.models.task import Task, masked
from foresay.output.output import Output
from foresay.parts import part
from foresay.text.tokens import MASK
from foresay.text.whole_words import word_edges

AT_ONCE = 1 << 14  # symbols read at a time by `score`
BOTH_SIDES: Any = {"kind": "transformer", "causal": False}


@part("task", "masked-lm")
class MaskedLanguageModel(Task):
    """Embedding, an encoder that sees both sides and output layer that predict hidden symbols."""

    causal = one_way = False
    symbols: Sequence[str] | None = None  # the vocabulary, for whole words; given before it is built
    edges: Tensor | None

    def __init__(
        self,
        embedding: Embedding | str = "lookup",
        encoder: Encoder | str = BOTH_SIDES,
        output: Output | str = "softmax",
        masking: Masking = Masking(),  # noqa: B008 - frozen
    ):
        super().__init__()
        assert isinstance(embedding, Embedding) and isinstance(encoder, Encoder) and isinstance(output, Output)
        masking.check()
        if not encoder.sees_both_sides:
            raise UserError(
                "encoder sees only what came before, and a masked language model predicts from both sides; "
                + encoder.how_both_ways()
            )
        self.embedding, self.encoder, self.output, self.masking = embedding, encoder, output, masking
        self.wants_symbols = masking.whole_words
        self._knows_words = not masking.whole_words

    def build(self, vocabulary: int) -> None:
        self.vocabulary = vocabulary
        self.embedding.build(vocabulary)
        self.encoder.build(self.embedding.width)
        self.output.build(self.encoder.width, vocabulary, self.embedding.weight())
        edges = None
        if self.masking.whole_words:
            self._knows_words = self.symbols is not None
            found = None if self.symbols is None else torch.from_numpy(word_edges(self.symbols))
            edges = torch.zeros(vocabulary, 2, dtype=torch.long) if found is None else found
        self.register_buffer("edges", edges)

    def restore(self, tensors: dict[str, Tensor], source: str = "the checkpoint") -> None:
        super().restore(tensors, source)
        self._knows_words = True  # they are kept with the weights

    def loss(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        assert batch.targets is not None
        if not self._knows_words:
            raise UserError("masking.whole_words needs the symbols of the vocabulary; set model.symbols before build")
        read, hidden = hide(batch.targets, batch.mask, batch.starts, self.masking, self.vocabulary, self.edges)
        features = self._features(batch, read)
        places, asked = gathered(hidden, self.masking)
        return self.output.loss(features.flatten(0, 1)[places], batch.targets.flatten()[places], asked), {}

    def measure(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        assert batch.targets is not None
        targets, turns = batch.targets, max(min(self.masking.turns, batch.targets.shape[1]), 1)
        found, columns = [], torch.arange(targets.shape[1], device=targets.device)
        for turn in range(turns):
            features = self._features(batch, targets.masked_fill(columns % turns == turn, MASK))
            found.append(self.output.log_prob(features[:, turn::turns], targets[:, turn::turns]))
        order = torch.cat([columns[turn::turns] for turn in range(turns)]).argsort()
        return masked(torch.cat(found, 1)[:, order], batch.mask), {}

    def score(
        self, ids: Tensor, mask: Tensor | None = None, condition: Tensor | None = None, state: State | None = None
    ) -> tuple[Tensor, State]:
        """log P (B, T) of every id given all others of its row, each hidden alone; 0 where masked."""
        if state:
            self._refuse("goes on from no state: score whole texts")
        if condition is not None:
            self._refuse("takes no condition: leave it out")
        rows, columns = (torch.ones_like(ids, dtype=torch.bool) if mask is None else mask).nonzero(as_tuple=True)
        many = max(AT_ONCE // max(ids.shape[1], 1), 1)
        found = [torch.zeros(0, device=ids.device, dtype=next(self.parameters()).dtype)]
        for row, column in zip(rows.split(many), columns.split(many), strict=True):
            features = self._hidden(ids[row], column, None if mask is None else mask[row])
            found.append(self.output.log_prob(features, ids[row, column]))
        joined = torch.cat(found)
        return joined.new_zeros(ids.shape).index_put((rows, columns), joined), {}

    def fill(self, ids: Tensor, places: Tensor, mask: Tensor | None = None) -> Tensor:
        """log P (B, V) of what stands at one place (B,) of each row of ids (B, T), given all others."""
        return self.output.log_probs(self._hidden(ids, places, mask))

    def begin(self, rows: int, condition: Tensor | None = None, capacity: int | None = None) -> NoReturn:
        self._refuse("writes nothing from left to right; use score, eval or correct, or train a language-model")

    def step(self, ids: Tensor, state: State, mask: Tensor | None = None) -> NoReturn:
        self.begin(len(ids))

    def _refuse(self, what: str) -> NoReturn:
        raise UserError(f"a masked language model sees both sides and {what}")

    def _hidden(self, ids: Tensor, places: Tensor, mask: Tensor | None) -> Tensor:
        """The features (B, H) at one hidden place of each row."""
        rows = torch.arange(len(ids), device=ids.device)
        read = ids.clone()
        read[rows, places] = MASK
        return self._features(Batch(mask=mask), read)[rows, places]

    def _features(self, batch: Batch, read: Tensor) -> Tensor:
        return self.encoder(self.embedding(replace(batch, ids=read)), batch.mask, starts=batch.starts)[0]
