"""Hidden Markov model by counts: the tagger before networks, and the baseline of every other.

    P(w, y) = P(y_1) prod_t P(w_t | y_t) prod_{t>1} P(y_t | y_{t-1}) P(end | y_T)

Every factor is a share of counts in the tagged text, `smoothing` added to each count. As a chain (output/crf.py) its
scores are e_t = log P(w_t | .), and A, b and c the logarithms of the others: Viterbi finds the best tags, and P(y | w)
is exact. A word that is not in the vocabulary is <unk>; `tokens.min_count: 2` gives that word counts.

ids (B, T) -> e (B, T, K).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.data.batch import Batch
from foresay.data.shards import Shards
from foresay.data.tag_batches import tagged
from foresay.models.tagging import Tagging
from foresay.models.task import Fitting
from foresay.output.crf import CRF
from foresay.parts import Rate, part


@part("task", "hmm")
class HMM(Tagging):
    """Tags by counts: a hidden Markov model of first order."""

    doing = "counting"
    history = ()  # one pass: no epochs
    notes = ()

    def __init__(self, smoothing: Rate = 0.1):
        super().__init__()
        self.smoothing = smoothing

    def build(self, vocabulary: int) -> None:
        self.vocabulary = vocabulary
        self.layer = CRF(self.kinds)
        self.emissions = nn.Parameter(torch.zeros(vocabulary, self.kinds))
        self.requires_grad_(False)

    def fit(
        self,
        shards: Shards,
        on_progress: Callable[[float], None] | None = None,
        how: Fitting = Fitting(),  # noqa: B008 - it is frozen
    ) -> None:
        """Counts every word with its tag, and every tag with the next."""
        own, kinds = tagged(shards), self.kinds
        sentences = [own.sentence(number) for number in range(own.documents)]
        words, tags = (np.concatenate(side) for side in zip(*sentences, strict=True))
        pairs = np.concatenate([tags[:0], *(tags[:-1] * kinds + tags[1:] for _, tags in sentences)])
        ends = [[tags[place] for _, tags in sentences] for place in (0, -1)]
        emitted = np.bincount(words * kinds + tags, minlength=self.vocabulary * kinds)
        moved = np.bincount(pairs, minlength=kinds * kinds).reshape(kinds, kinds)
        first, last = (np.bincount(end, minlength=kinds) for end in ends)
        onward = self._log_shares(np.concatenate([moved, last[:, None]], 1), axis=1)
        assert isinstance(self.layer, CRF)
        for parameter, found in (
            (self.emissions, self._log_shares(emitted.reshape(self.vocabulary, kinds), axis=0)),
            (self.layer.begins, self._log_shares(first, axis=0)),
            (self.layer.transitions, onward[:, :-1]),
            (self.layer.ends, onward[:, -1]),
        ):
            parameter.copy_(torch.from_numpy(found))

    def size(self) -> int:
        """The number of values that are counted; no gradient reaches them."""
        return sum(p.numel() for p in self.parameters())

    def _log_shares(self, counts: np.ndarray, axis: int) -> np.ndarray:
        more = counts + self.smoothing
        return np.log(more / more.sum(axis, keepdims=True))

    @torch.no_grad()
    def filtered(self, batch: Batch) -> Tensor:
        assert isinstance(self.layer, CRF)
        return self.layer.filtered(self.scores(batch), batch.mask)

    def scores(self, batch: Batch) -> Tensor:
        assert batch.ids is not None
        return F.embedding(batch.ids, self.emissions)
