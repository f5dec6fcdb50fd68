"""Vectors of another embedding with mean 0 and deviation 1 each: x = (e - mean(e)) / deviation(e), then dropout on x.

    embedding: {kind: normed, of: {kind: characters, size: 512}, dropout: 0.3}

For words by their letters above all. At first the greatest values of their kernels are much alike: a model must make
weights large to tell words apart, and the vectors with them (deviations of 30 were seen, beside 0.6 of the states of an
LSTM that reads them). Normed, they are apart from the beginning, and ELMo's layers are of one size.

batch (B, T) -> x (B, T, D).
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from foresay.data.batch import Batch
from foresay.embed.dropout import drop
from foresay.embed.embedding import Embedding
from foresay.parts import Share, part


@part("embedding", "normed")
class Normed(Embedding):
    """Another embedding's vectors, shifted and scaled to mean 0 and deviation 1."""

    def __init__(self, of: Embedding | str = "characters", dropout: Share = 0.0) -> None:
        super().__init__()
        assert isinstance(of, Embedding)
        self.of, self.dropout = of, dropout
        self.sees_ahead = of.sees_ahead

    def build(self, vocabulary: int) -> None:
        self.of.build(vocabulary)
        self.width = self.of.width

    def forward(self, batch: Batch) -> Tensor:
        x = self.of(batch)
        return drop(F.layer_norm(x, (self.width,)).to(x.dtype), self.dropout, self.training)
