"""Sequence to sequence: P(y_1 .. y_T | x_1 .. x_S) = prod_t P(y_t | y_1 .. y_{t-1}, x).

    a = encoder(E x),   h_t = writer(E y_0 .. E y_{t-1}; a),   P(y_t | ...) = output(h_t),   y_0 = <start>

The condition of contract 5 is the source: ids (B, S) with <stop> at their end and <pad> after it. It is read once, in
`begin`; what was read is part of the state. Both sides have one table of vectors, or each has its own vocabulary's.

Training feeds what should have been written (teacher forcing). With `sampling` a share of it is what the model itself
draws at that step, a share that may rise from 0 over the first steps (scheduled sampling, Bengio et al. 2015). The
gradient is that of the loss with `smoothing` (smooth.py), with `agreement` of two passes (agreement.py) and with the
writer's coverage; the loss alone is reported.
`measures` names what an evaluation says of the texts that are written; without any, none is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.embed.embedding import Embedding
from foresay.encode.encoder import Encoder, State
from foresay.errors import UserError
from foresay.models.agreement import apart, twice
from foresay.models.seq2seq import copying
from foresay.models.seq2seq.smooth import surplus, surplus_of
from foresay.models.seq2seq.writer import Source, Writer, Wrote, summarise
from foresay.models.task import Task, last_real, masked
from foresay.output.output import Output
from foresay.output.rows import mean_over
from foresay.parts import Amount, Count, Share, anew, part
from foresay.text.tokens import PAD, START

STRAYED = 20  # times more often
Measure = Literal["exact", "errors", "bleu", "chrf", "rouge"]  # of what is written: train/overlap.py
USUAL: list[Measure] = ["bleu", "chrf", "exact"]


@dataclass(frozen=True)
class Sampling:
    """Scheduled sampling: the share of symbols that the model feeds itself, reached after `rise` batches."""

    share: Share = 0.0
    rise: Count = 0


@part("task", "seq2seq")
class Seq2Seq(Task):
    """An encoder reads a source, a writer writes the target from it."""

    conditional = True
    reads = "pairs"
    known: Tensor
    steps: Tensor

    def __init__(
        self,
        embedding: Embedding | str = "lookup",
        encoder: Encoder | str = "recurrent",
        writer: Writer | str = "recurrent",
        output: Output | str = "softmax",
        smoothing: Share = 0.0,
        agreement: Amount = 0.0,
        sampling: Sampling = Sampling(),  # noqa: B008 - frozen
        measures: list[Measure] = USUAL,
    ):
        super().__init__()
        assert isinstance(embedding, Embedding) and isinstance(encoder, Encoder)
        assert isinstance(writer, Writer) and isinstance(output, Output)
        embedding.must_not_see_ahead()
        self.embedding, self.encoder, self.writer, self.output = embedding, encoder, writer, output
        self.smoothing, self.agreement, self.sampling, self.measures = smoothing, agreement, sampling, measures
        self.source_embedding: Embedding | None = None

    def build(self, vocabulary: int) -> None:
        self.vocabulary, sources = vocabulary, self.source_vocabulary
        self.embedding.build(vocabulary)
        if sources is not None:
            if self.writer.copies:
                raise UserError(
                    "writer.copy=true copies symbols, and data.source_tokens gives the source others; leave one out"
                )
            spelling = [one for one in self.embedding.modules() if getattr(one, "wants_symbols", False)]
            if spelling:
                raise UserError(
                    f"embedding={spelling[0].part_name} spells the target's symbols, and data.source_tokens gives "
                    "the source others; leave data.source_tokens out, or set embedding=lookup"
                )
            own: Any = anew(self.embedding)
            if getattr(own, "pretrained", None):
                own.pretrained = None  # vectors of the target's words
            own.build(sources)
            self.source_embedding = own
        self.encoder.build((self.source_embedding or self.embedding).width)
        self.writer.build(self.embedding.width, self.encoder.width)
        self.output.build(self.writer.width, vocabulary, self.embedding.weight())
        self.register_buffer("known", torch.ones(sources or vocabulary, dtype=torch.bool))
        if self.sampling.share and self.sampling.rise:
            self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    def learn_sources(self, sources: np.ndarray, targets: np.ndarray) -> None:
        """Which symbols are the sources', by how often each stands in the training sources and targets.

        With one vocabulary, a symbol that targets have far more often is of their language, and strayed.
        """
        there = sources > 0 if self.source_vocabulary is not None else sources * STRAYED > targets
        self.known.copy_(torch.from_numpy(there))

    def loss(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        batch = twice(batch) if self.training and self.agreement else batch
        assert batch.targets is not None and batch.source is not None
        before = self.writer.begin(self._read(batch.source, whole=batch.source_mask is None))
        share = self._share() if self.training else 0.0
        wrote = self._write_sampled(batch, before, share) if share else self._write(batch, before)[0]
        targets, mask = batch.targets, batch.mask
        if self.writer.copies:
            own = self._log_prob(wrote, targets, batch.source)
            loss = mean_over(-own.flatten(), mask)
        else:
            loss = self.output.loss(wrote.features, targets, mask)
        if not self.training or not (self.smoothing or self.agreement or self.writer.coverage):
            return loss, {}
        more = self._more(wrote, batch)
        return loss + (more - more.detach()), {}  # the gradient of both, the value of the loss

    def _more(self, wrote: Wrote, batch: Batch) -> Tensor:
        """What is added to the loss: smoothing, agreement and coverage."""
        assert batch.targets is not None and batch.source is not None
        found = wrote.features.new_zeros(())
        if self.smoothing and self.writer.copies:
            found = found + self.smoothing * surplus_of(self._log_probs(wrote, batch.source), batch.targets, batch.mask)
        elif self.smoothing:
            found = found + self.smoothing * surplus(self.output, wrote.features, batch.targets, batch.mask)
        if self.agreement:
            once = None if batch.mask is None else batch.mask.chunk(2)[0]
            differ = apart(self._log_probs(wrote, batch.source))
            found = found + self.agreement * mean_over(differ.flatten(), once)
        if self.writer.coverage:
            assert wrote.weights is not None
            found = found + self.writer.coverage * mean_over(looked_twice(wrote.weights).flatten(), batch.mask)
        return found

    def _share(self) -> float:
        """The share of sampled symbols at this step; counts the steps."""
        if not self.sampling.share or not self.sampling.rise:
            return self.sampling.share
        self.steps += 1
        return self.sampling.share * min(int(self.steps) / self.sampling.rise, 1.0)

    def _write(self, batch: Batch, state: State) -> tuple[Wrote, State]:
        return self.writer(self.embedding(Batch(ids=batch.ids)), state, batch.mask)

    def _write_sampled(self, batch: Batch, state: State, share: float) -> Wrote:
        """Step by step: each symbol after the first is, with probability `share`, drawn from the step before it."""
        assert batch.ids is not None and batch.source is not None
        found, fed = [], batch.ids[:, :1]
        own = torch.rand(batch.ids.shape, device=batch.ids.device) < share
        for step in range(batch.ids.shape[1]):
            now = None if batch.mask is None else batch.mask[:, step : step + 1]
            wrote, state = self.writer(self.embedding(Batch(ids=fed)), state, now)
            found.append(wrote)
            if step + 1 < batch.ids.shape[1]:
                with torch.no_grad():
                    drawn = torch.multinomial(self._log_probs(wrote, batch.source)[:, 0].exp(), 1)
                fed = drawn.where(own[:, step + 1, None], batch.ids[:, step + 1, None])
        return joined(found)

    def measure(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        assert batch.targets is not None and batch.source is not None
        before = self.writer.begin(self._read(batch.source)) if batch.fresh or state is None else state["writer"]
        wrote, after = self._write(batch, before)
        return masked(self._log_prob(wrote, batch.targets, batch.source), batch.mask), {"writer": after}

    def begin(self, rows: int, condition: Tensor | None = None, capacity: int | None = None) -> State:
        if condition is None or condition.dim() != 2 or len(condition) != rows:
            given = "no condition" if condition is None else f"a condition {tuple(condition.shape)}"
            raise UserError(
                f"seq2seq writes from a source, and {given} was given; pass its ids as condition ({rows}, S)"
            )
        before = self.writer.begin(self._read(condition), None if capacity is None else capacity + 1)
        start = torch.full((rows, 1), START, device=condition.device)
        wrote, after = self.writer(self.embedding(Batch(ids=start)), before)
        return {"writer": after, "source": condition, "last": {name: t[:, -1] for name, t in fields(wrote).items()}}

    def step(self, ids: Tensor, state: State, mask: Tensor | None = None) -> tuple[Tensor, State]:
        last, after = state["last"], state["writer"]
        if ids.shape[1]:
            wrote, after = self.writer(self.embedding(Batch(ids=ids)), after, mask)
            last = self._last(wrote, last, mask)
        now = Wrote(**{name: t[:, None] for name, t in last.items()})
        return self._log_probs(now, state["source"])[:, 0], {"writer": after, "source": state["source"], "last": last}

    def score(
        self, ids: Tensor, mask: Tensor | None = None, condition: Tensor | None = None, state: State | None = None
    ) -> tuple[Tensor, State]:
        state = state if state is not None else self.begin(len(ids), condition)
        wrote, after = self.writer(self.embedding(Batch(ids=ids)), state["writer"], mask)
        last, source = state["last"], state["source"]
        before = {name: torch.cat([last[name][:, None], t], 1)[:, :-1] for name, t in fields(wrote).items()}
        found = masked(self._log_prob(Wrote(**before), ids, source), mask)
        return found, {"writer": after, "source": source, "last": self._last(wrote, last, mask)}

    def next_log_prob(self, ids: Tensor, state: State) -> Tensor:
        """log P of the symbols (B, 1) that come next, which are not read: the last one needs no position of its own."""
        wrote = Wrote(**{name: t[:, None] for name, t in state["last"].items()})
        return self._log_prob(wrote, ids, state["source"])

    @torch.no_grad()
    def align(self, source: Tensor, target: Tensor) -> Tensor:
        """How much each target looked at each place of its source: (B, S), (B, T) -> (B, T, S), 0 where masked.

        Of a Transformer the mean over the heads of its last layer; `looks` has all of them.
        """
        found = self.looks(source, target)[-1].mean(1)
        return found.masked_fill((target == PAD)[:, :, None], 0)

    def looks(self, source: Tensor, target: Tensor) -> list[Tensor]:
        """The same of every layer and head, (B, N, T, S)."""
        start = torch.full((len(target), 1), START, device=target.device)
        x = self.embedding(Batch(ids=torch.cat([start, target[:, :-1]], 1)))
        return self.writer.looks(x, self.writer.begin(self._read(source)))

    def _read(self, source: Tensor, *, whole: bool = False) -> Source:
        """What the encoder makes of the sources; `whole` where it is known that none is padded."""
        mask = source != PAD
        embedding = self.source_embedding or self.embedding
        y, state = self.encoder(embedding(Batch(ids=source)), None if whole else mask)
        return Source(y, mask, summarise(self.encoder, y, state, mask))

    def _log_prob(self, wrote: Wrote, targets: Tensor, source: Tensor) -> Tensor:
        own = self.output.log_prob(wrote.features, targets)
        if wrote.gate is None or wrote.weights is None:
            return own
        return copying.mixed(own, wrote.gate[..., 0], copying.mass_of(wrote.weights, source, targets))

    def _log_probs(self, wrote: Wrote, source: Tensor) -> Tensor:
        own = self.output.log_probs(wrote.features)
        if wrote.gate is None or wrote.weights is None:
            return own
        return copying.mixed(own, wrote.gate, copying.mass_of_all(wrote.weights, source, self.vocabulary))

    def _last(self, wrote: Wrote, before: State, mask: Tensor | None) -> State:
        return {name: last_real(t, before[name], mask) for name, t in fields(wrote).items()}


def fields(wrote: Wrote) -> dict[str, Tensor]:
    """What there is of it, by name."""
    every = {"features": wrote.features, "weights": wrote.weights, "gate": wrote.gate}
    return {name: t for name, t in every.items() if t is not None}


def joined(steps: list[Wrote]) -> Wrote:
    """One after the other."""
    return Wrote(**{name: torch.cat([fields(one)[name] for one in steps], 1) for name in fields(steps[0])})


def looked_twice(weights: Tensor) -> Tensor:
    """sum_t min(alpha_t, what the steps before gave t): (B, T, S) -> (B, T)"""
    before = weights.cumsum(1) - weights
    return torch.minimum(weights, before).sum(-1)
