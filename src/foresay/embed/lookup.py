"""A table of learnt vectors: x_t = E[id_t], with dropout on x.

Vectors begin normal with deviation 1/sqrt(D), so each has length about 1: large enough for a recurrent cell to tell
symbols apart from the first step, and small enough that a tied softmax over normalised features (length sqrt(D)) begins
with logits of deviation 1, a loss near log V.

ids (B, T) -> x (B, T, D); `pretrained` is a .safetensors file with a tensor `vectors` (V, D), rows in vocabulary order.
"""

from __future__ import annotations

from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.data.batch import Batch
from foresay.embed.embedding import Embedding
from foresay.errors import UserError
from foresay.parts import Share, Size, part


@part("embedding", "lookup")
class Lookup(Embedding):
    """A table of learnt vectors, one per symbol."""

    def __init__(
        self, *, size: Size = 256, dropout: Share = 0.0, frozen: bool = False, pretrained: str | None = None
    ) -> None:
        super().__init__()
        self.width, self.dropout, self.frozen, self.pretrained = size, dropout, frozen, pretrained

    def build(self, vocabulary: int) -> None:
        if self.pretrained is None:
            vectors = torch.randn(vocabulary, self.width) / self.width**0.5
        else:
            vectors = read_vectors(self.pretrained, vocabulary, self.width)
        self.table = nn.Parameter(vectors, requires_grad=not self.frozen)

    def forward(self, batch: Batch) -> Tensor:
        assert batch.ids is not None, "the lookup embedding reads ids"
        return F.dropout(F.embedding(batch.ids, self.table), self.dropout, self.training)

    def weight(self) -> nn.Parameter:
        return self.table


def read_vectors(path: str, vocabulary: int, size: int) -> Tensor:
    """The tensor `vectors` of a .safetensors file, refused unless its shape is (vocabulary, size)."""
    from safetensors import SafetensorError, safe_open

    if not Path(path).is_file():
        raise UserError(f"pretrained={path!r} is no file; give a .safetensors file with a tensor named vectors")
    try:
        with safe_open(path, framework="pt") as file:
            if "vectors" not in file.keys():  # noqa: SIM118 - not a dict
                raise UserError(f"pretrained={path!r} holds {sorted(file.keys())}; it needs a tensor named vectors")
            vectors = file.get_tensor("vectors").float()
    except SafetensorError:
        raise UserError(f"pretrained={path!r} cannot be read as .safetensors; convert it first") from None
    if vectors.shape != (vocabulary, size):
        given, needed = tuple(vectors.shape), (vocabulary, size)
        raise UserError(f"pretrained={path!r} has shape {given}; needed (vocabulary, size) = {needed}")
    return vectors
