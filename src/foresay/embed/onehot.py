"""One-hot vectors: x_t has a 1 at its symbol's place and 0 elsewhere; nothing is learnt.

ids (B, T) -> x (B, T, V).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from foresay.data.batch import Batch
from foresay.embed.embedding import Embedding
from foresay.parts import part


@part("embedding", "onehot")
class OneHot(Embedding):
    """One-hot vectors of the symbols, width V."""

    def __init__(self) -> None:
        super().__init__()

    def build(self, vocabulary: int) -> None:
        self.width = vocabulary

    def forward(self, batch: Batch) -> Tensor:
        assert batch.ids is not None, "the onehot embedding reads ids"
        return F.one_hot(batch.ids, self.width).to(torch.get_default_dtype())
