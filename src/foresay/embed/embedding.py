"""What every embedding keeps (contract 2): the fields of a batch it names -> x (B, T, D)."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from foresay.data.batch import Batch
from foresay.parts import Part


class Embedding(Part, nn.Module):
    """`build(vocabulary)` fixes the sizes; `forward(batch)` -> x (B, T, D) with D = `self.width`."""

    part_kind = "embedding"
    width: int  # D, known after build
    notes: Sequence[str] = ()  # what a user should know of how it was built

    def build(self, vocabulary: int) -> None:
        raise AssertionError(f"{type(self).__name__} has no build")

    def forward(self, batch: Batch) -> Tensor:
        raise AssertionError(f"{type(self).__name__} has no forward")

    def weight(self) -> nn.Parameter | None:
        """The (V, D) table that an output layer may tie to, or None."""
        return None
