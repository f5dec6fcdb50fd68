"""What every tagger keeps: words -> scores of tags, and an output layer over whole sequences of them.

    e = scores(words) (B, T, K),   P(y_1 .. y_T | x) by `layer`: each tag by itself, or a chain (output/crf.py)

ids (B, T) -> log P of the tags (B, T), the best tags (B, T), P of every tag (B, T, K). A tagger knows no P of a text:
it keeps `loss` and `measure` of contract 5, and no state is carried from batch to batch.
"""

from __future__ import annotations

import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.data.tag_set import TagSet
from foresay.encode.encoder import State
from foresay.kernels.chain import Chain
from foresay.models.task import Task
from foresay.output.crf import CRF, FORBIDDEN, Apart


class Tagging(Task):
    """`tags` is set before `build`; a subclass gives `scores`."""

    sequence = False
    causal = False
    reads = "tags"
    tags: TagSet | None = None
    layer: CRF | Apart

    @property
    def kinds(self) -> int:
        """K, how many tags there are."""
        return 1 if self.tags is None else len(self.tags)

    def scores(self, batch: Batch) -> Tensor:
        """e (B, T, K)."""
        raise AssertionError(f"{type(self).__name__} has no scores")

    def loss(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        """-log P of the tags, in nats a word."""
        return self.loss_of(self.scores(batch), batch), {}

    def loss_of(self, scores: Tensor, batch: Batch) -> Tensor:
        """The loss of scores that are there."""
        assert batch.targets is not None
        if isinstance(self.layer, CRF):
            found = self.layer.log_likelihood(scores, batch.targets, batch.mask)
        else:
            found = self.layer.log_prob(scores, batch.targets, batch.mask)
        number = batch.targets.numel() if batch.mask is None else batch.mask.sum().clamp(min=1)
        return -found.sum() / number

    def measure(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        """log P of every tag, in a chain given the tag before it: a row's sum is log P of all of them."""
        assert batch.targets is not None
        return self.layer.log_prob(self.scores(batch), batch.targets, batch.mask), {}

    @torch.no_grad()
    def best(self, batch: Batch) -> Tensor:
        """The most probable tags, (B, T), of spans those that keep the rules of their scheme; any where masked."""
        scores = self.scores(batch)
        return self.layer.best(scores, batch.mask, self.rules(scores))

    @torch.no_grad()
    def predict(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """The most probable tags (B, T), and log P of all tags at every word, (B, T, K)."""
        scores = self.scores(batch)
        return self.layer.best(scores, batch.mask, self.rules(scores)), self.layer.marginals(scores, batch.mask)

    def filtered(self, batch: Batch) -> Tensor | None:
        """log P(y_t | x_1 .. x_t) of all tags, (B, T, K), of a model that says so of itself; else None.

        What others say of the beginning of a sentence they say of it as of a whole one.
        """
        return None

    def rules(self, scores: Tensor) -> Chain | None:
        """What is added to a chain so that no tag stands where its scheme forbids it."""
        if self.tags is None or self.tags.scheme == "none":
            return None
        table = torch.where(torch.tensor(self.tags.follows, device=scores.device), 0.0, FORBIDDEN).to(scores.dtype)
        return table[:-1, :-1], table[-1, :-1], table[:-1, -1]
