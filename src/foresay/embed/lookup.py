"""A table of learnt vectors: x_t = E[id_t], with dropout on x.

Vectors begin normal with deviation 1/sqrt(D), so each has length about 1: large enough for a recurrent cell to tell
symbols apart from the first step, and small enough that a tied softmax over normalised features (length sqrt(D)) begins
with logits of deviation 1, a loss near log V. With `bound` they begin uniform in [-bound, bound].

While training, `words` drops that share of the symbols, each wherever it stands in the batch (Gal and Ghahramani 2016;
`dropoute` of Merity et al. 2018), and `dropout` single entries of x; with `locked` the same entries at every step of a
row. What is left is scaled up by 1 / (1 - share).

ids (B, T) -> x (B, T, D); `pretrained` is a .safetensors file with a tensor `vectors` (V, D), rows in vocabulary order.
"""

from __future__ import annotations

from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.data.batch import Batch
from foresay.embed.dropout import drop
from foresay.embed.embedding import Embedding
from foresay.errors import UserError
from foresay.parts import Rate, Share, Size, part


@part("embedding", "lookup")
class Lookup(Embedding):
    """A table of learnt vectors, one per symbol."""

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
        if self.pretrained is not None:
            vectors = read_vectors(self.pretrained, vocabulary, self.width)
        elif self.bound is not None:
            vectors = torch.empty(vocabulary, self.width).uniform_(-self.bound, self.bound)
        else:
            vectors = torch.randn(vocabulary, self.width) / self.width**0.5
        self.table = nn.Parameter(vectors, requires_grad=not self.frozen)

    def forward(self, batch: Batch) -> Tensor:
        assert batch.ids is not None, "the lookup embedding reads ids"
        x = F.embedding(batch.ids, self.table)
        if self.training and self.words:
            kept = F.dropout(x.new_ones(len(self.table)), self.words)
            x = x * kept[batch.ids][..., None]
        return drop(x, self.dropout, self.training, locked=self.locked)

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
