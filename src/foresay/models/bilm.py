"""Bidirectional language model (ELMo, Peters et al. 2018): one that reads forwards, one that reads backwards.

    forwards    P(w_t | w_1 .. w_{t-1}) = output(f_t),   f = encoder(<start> w_1 .. w_{t-1})
    backwards   P(w_t | w_{t+1} .. w_T) = output(b_t),   b = another encoder(<stop> w_T .. w_{t+1})
    loss        the mean of -log P over both

The embedding and the output layer are the same for both, the encoders are two: none sees the answer. Each has layers of
its own, by default two LSTMs, the second fed h_1 + W x (encode/wiring.py). Backwards, what ends a text is its <start>,
so both predict as many symbols; perplexity is of each way, and of both together the geometric mean.

As it is used afterwards (`read`), a word has 1 + 2 L vectors: x, and after the word each layer's state both ways,

    h_0 = [x; x],   h_l = [f_l; b_l]

`score` gives the pseudo-log-likelihood: P(w_t | all others) is in proportion to P(w_t | before) P(w_t | after).

ids (B, T) -> log P (B, T). Nothing is carried from batch to batch: the state is empty.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.embed.dropout import drop
from foresay.embed.embedding import Embedding
from foresay.encode.encoder import Encoder, State
from foresay.encode.segments import flip, flip_starts
from foresay.errors import UserError
from foresay.kernels.overlap import overlap
from foresay.models.task import Task, masked
from foresay.output.output import Output
from foresay.parts import Share, anew, part
from foresay.text.tokens import START, STOP

AT_ONCE = 1 << 12  # places whose log P of all symbols is worked out together
TWO_LAYERS: Any = {"kind": "recurrent", "layers": 2, "between": {"wiring": "fed"}}


@part("task", "bilm")
class BiLM(Task):
    """Embedding, an encoder each way and one output layer: forwards the next symbol, backwards the one before."""

    causal = False

    def __init__(
        self,
        embedding: Embedding | str = "characters",
        encoder: Encoder | str = TWO_LAYERS,
        output: Output | str = "softmax",
        dropout: Share = 0.0,
    ):
        super().__init__()
        assert isinstance(embedding, Embedding) and isinstance(encoder, Encoder) and isinstance(output, Output)
        embedding.must_not_see_ahead()
        if not encoder.causal:
            raise UserError(
                "encoder sees what comes after and would see the answer; a bilm has one encoder for each way: "
                + encoder.how_one_way()
            )
        self.embedding, self.encoder, self.output, self.dropout = embedding, encoder, output, dropout
        self.backwards: Encoder = anew(encoder)

    def build(self, vocabulary: int) -> None:
        self.vocabulary = vocabulary
        self.embedding.build(vocabulary)
        for encoder in (self.encoder, self.backwards):
            encoder.build(self.embedding.width)
        self.output.build(self.encoder.width, vocabulary, self.embedding.weight())

    def loss(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        assert batch.ids is not None and batch.targets is not None
        features = drop(torch.cat(self._features(batch)), self.dropout, self.training)
        mask = None if batch.mask is None else batch.mask.repeat(2, 1)
        return self.output.loss(features, torch.cat([batch.targets, batch.ids]), mask), {}

    def measure(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        """The mean of both ways at each target; backwards, a <start> stands for the <stop> that is predicted before."""
        return self.joint(self.measure_ways(batch), batch.mask), {}

    def measure_ways(self, batch: Batch) -> dict[str, Tensor]:
        """log P, 0 where masked: `forwards` of each of `targets`, `backwards` of each of `ids`."""
        assert batch.ids is not None and batch.targets is not None
        ahead, back = self._features(batch)
        return {
            "forwards": masked(self.output.log_prob(ahead, batch.targets), batch.mask),
            "backwards": masked(self.output.log_prob(back, batch.ids), batch.mask),
        }

    def joint(self, ways: dict[str, Tensor], mask: Tensor | None) -> Tensor:
        """The mean of both at the same symbol: what `ids` has is a step later in it than in `targets`."""
        back = ways["backwards"]
        steps = torch.arange(back.shape[1], device=back.device)
        lengths = back.shape[1] if mask is None else mask.sum(1, keepdim=True).clamp(min=1)
        return masked((ways["forwards"] + back.gather(1, ((steps + 1) % lengths).expand_as(back))) / 2, mask)

    def score(
        self, ids: Tensor, mask: Tensor | None = None, condition: Tensor | None = None, state: State | None = None
    ) -> tuple[Tensor, State]:
        """log P (B, T) of every id given all others of its row; 0 where masked."""
        if state:
            self._refuse("goes on from no state: score whole texts")
        if condition is not None:
            self._refuse("takes no condition: leave it out")
        if not ids.numel():
            return torch.zeros(ids.shape, device=ids.device, dtype=next(self.parameters()).dtype), {}
        ahead, back, follows = (one.flatten(0, 1) for one in self._around(ids, mask))
        found = [
            self._given_both(*places).gather(1, own[:, None])[:, 0]
            for *places, own in zip(*(one.split(AT_ONCE) for one in (ahead, back, follows, ids.flatten())), strict=True)
        ]
        return masked(torch.cat(found).view(ids.shape), mask), {}

    def fill(self, ids: Tensor, places: Tensor, mask: Tensor | None = None) -> Tensor:
        """log P (B, V) of what stands at one place (B,) of each row of ids (B, T), given all others."""
        rows = torch.arange(len(ids), device=ids.device)
        return self._given_both(*(one[rows, places] for one in self._around(ids, mask)))

    def read(self, batch: Batch) -> list[Tensor]:
        """h_0, h_1, ... of words (B, T), without marks at their ends: each (B, T, 2 width), zero where masked."""
        assert batch.ids is not None
        x, mask = self.embedding(batch), batch.mask
        marks = torch.cat([batch.ids.new_full((1, 1), mark) for mark in (START, STOP)], 1)  # a copy would be waited for
        ends = self.embedding(Batch(ids=marks)).expand(len(x), -1, -1)
        whole = None if mask is None else torch.cat([torch.ones_like(mask[:, :1]), mask], 1)
        ahead = self.encoder.layers(torch.cat([ends[:, :1], x], 1), whole)
        back = self.backwards.layers(torch.cat([ends[:, 1:], flip(x, mask)], 1), whole)
        h = [torch.cat([x, x], 2)]
        h += [torch.cat([f[:, 1:], flip(b[:, 1:], mask)], 2) for f, b in zip(ahead, back, strict=True)]
        return h if mask is None else [one.masked_fill(~mask[:, :, None], 0) for one in h]

    def begin(self, rows: int, condition: Tensor | None = None, capacity: int | None = None) -> NoReturn:
        self._refuse("writes nothing from left to right; use score, eval, embed or correct, or train a language-model")

    def step(self, ids: Tensor, state: State, mask: Tensor | None = None) -> NoReturn:
        self.begin(len(ids))

    def _refuse(self, what: str) -> NoReturn:
        raise UserError(f"a bidirectional language model sees both sides and {what}")

    def _features(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """f of `targets`, b of `ids`, (B, T, H): forwards `ids` are read, backwards `targets`."""
        assert batch.ids is not None and batch.targets is not None
        x = self.embedding(replace(batch, ids=torch.cat([batch.ids, batch.targets])))  # each word's letters once
        return self._both_ways(x, batch.mask, batch.mask, batch.starts)

    def _both_ways(
        self, x: Tensor, mask: Tensor | None, mask_after: Tensor | None, starts: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Features (B, T, H) of x (2B, T, D): what is read forwards, then what is read backwards."""
        before, after = x.chunk(2)
        begins = None if starts is None else flip_starts(starts, mask_after)
        ahead, back = overlap(
            lambda: self.encoder(before, mask, starts=starts)[0],
            lambda: flip(self.backwards(flip(after, mask_after), mask_after, starts=begins)[0], mask_after),
            x.device,
            lambda y: [y],
        )
        return ahead, back

    def _around(self, ids: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """Features at each place of what stands before it and of what follows it, and whether anything does."""
        real = torch.ones_like(ids, dtype=torch.bool) if mask is None else mask
        before = torch.cat([torch.full_like(ids[:, :1], START), ids[:, :-1]], 1)
        after, follows = ids.roll(-1, 1), torch.cat([real[:, 1:], torch.zeros_like(real[:, :1])], 1)
        x = self.embedding(Batch(ids=torch.cat([before, after])))  # <unk> without letters, as in training
        return *self._both_ways(x, mask, follows), follows

    def _given_both(self, ahead: Tensor, back: Tensor, follows: Tensor) -> Tensor:
        """log P (N, V) at places with features (N, H); where nothing follows, by what came before alone."""
        after = self.output.log_probs(back).masked_fill(~follows[:, None], 0.0)
        return (self.output.log_probs(ahead) + after).log_softmax(-1)
