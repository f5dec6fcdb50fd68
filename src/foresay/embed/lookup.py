"""A table of learnt vectors: x_t = E[id_t], with dropout on x.

Vectors begin normal with deviation 1/sqrt(D), so each has length about 1: large enough for a recurrent cell to tell
symbols apart from the first step, and small enough that a tied softmax over normalised features (length sqrt(D)) begins
with logits of deviation 1, a loss near log V. With `bound` they begin uniform in [-bound, bound].

While training, `words` drops that share of the symbols, each wherever it stands in the batch (Gal and Ghahramani 2016;
`dropoute` of Merity et al. 2018), and `dropout` single entries of x; with `locked` the same entries at every step of a
row. What is left is scaled up by 1 / (1 - share).

`pretrained` names vectors to begin with (pretrained.py): symbols that are not among its words begin as without it.

ids (B, T) -> x (B, T, D).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.data.batch import Batch
from foresay.embed.dropout import drop
from foresay.embed.embedding import Embedding
from foresay.embed.pretrained import fill, is_in_order, read_in_order
from foresay.parts import Rate, Share, Size, part


@part("embedding", "lookup")
class Lookup(Embedding):
    """A table of learnt vectors, one per symbol."""

    symbols: Sequence[str] | None = None  # the vocabulary, for words of `pretrained`; given before it is built

    def __init__(
        self,
        *,
        size: Size = 256,
        dropout: Share = 0.0,
        locked: bool = False,
        words: Share = 0.0,
        bound: Rate | None = None,
        frozen: bool = False,
        pretrained: str | None = None,
    ) -> None:
        super().__init__()
        self.width, self.dropout, self.locked, self.words = size, dropout, locked, words
        self.bound, self.frozen, self.pretrained = bound, frozen, pretrained

    def build(self, vocabulary: int) -> None:
        if self.pretrained is not None and is_in_order(self.pretrained):
            vectors = read_in_order(self.pretrained, vocabulary, self.width)
        else:
            vectors = self._at_random(vocabulary)
            if self.pretrained is not None:
                self.notes = [fill(vectors, self.pretrained, self.symbols, frozen=self.frozen)]
        self.table = nn.Parameter(vectors, requires_grad=not self.frozen)

    def _at_random(self, vocabulary: int) -> Tensor:
        if self.bound is not None:
            return torch.empty(vocabulary, self.width).uniform_(-self.bound, self.bound)
        return torch.randn(vocabulary, self.width) / self.width**0.5

    def forward(self, batch: Batch) -> Tensor:
        assert batch.ids is not None, "the lookup embedding reads ids"
        x = F.embedding(batch.ids, self.table)
        if self.training and self.words:
            kept = F.dropout(x.new_ones(len(self.table)), self.words)
            x = x * kept[batch.ids][..., None]
        return drop(x, self.dropout, self.training, locked=self.locked)

    def weight(self) -> nn.Parameter:
        return self.table
