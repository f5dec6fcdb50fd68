"""Several embeddings side by side: x = [x_1; x_2; ...], as a word and its letters (Ma and Hovy 2016).

    embedding: {kind: joined, of: [{kind: lookup, size: 100}, {kind: characters, size: 50}]}

Each reads what it reads: a word that the vocabulary does not know is <unk> for `lookup`, and its letters for
`characters`.

batch (B, T) -> x (B, T, D), D the sum of their widths.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor, nn

from foresay.data.batch import Batch
from foresay.embed.embedding import Embedding
from foresay.parts import part

BOTH: Any = ["lookup", {"kind": "characters", "size": 64}]


@part("embedding", "joined")
class Joined(Embedding):
    """Several embeddings side by side: a word and its letters."""

    def __init__(self, of: list[Embedding | str] = BOTH) -> None:
        super().__init__()
        self.of = cast("list[Embedding]", nn.ModuleList(cast("list[Embedding]", of)))
        self.sees_ahead = any(one.sees_ahead for one in self.of)

    def build(self, vocabulary: int) -> None:
        for one in self.of:
            one.build(vocabulary)
        self.width = sum(one.width for one in self.of)

    def forward(self, batch: Batch) -> Tensor:
        return torch.cat([one(batch) for one in self.of], -1)
