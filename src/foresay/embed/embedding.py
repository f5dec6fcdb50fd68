"""What every embedding keeps (contract 2): the fields of a batch it names -> x (B, T, D)."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from foresay.data.batch import Batch
from foresay.errors import UserError
from foresay.parts import Part


class Embedding(Part, nn.Module):
    """`build(vocabulary)` fixes the sizes; `forward(batch)` -> x (B, T, D) with D = `self.width`."""

    part_kind = "embedding"
    width: int  # D, known after build
    notes: Sequence[str] = ()  # what a user should know of how it was built
    sees_ahead = False  # True: a vector depends on the words that follow

    def build(self, vocabulary: int) -> None:
        raise AssertionError(f"{type(self).__name__} has no build")

    def forward(self, batch: Batch) -> Tensor:
        raise AssertionError(f"{type(self).__name__} has no forward")

    def must_not_see_ahead(self) -> None:
        """Refuses to stand under what predicts the words that follow."""
        if self.sees_ahead:
            raise UserError(
                f"embedding={self.part_name} sees the words that follow, which are to be predicted; allowed: under a "
                "tagger, a classifier or a masked-lm; set embedding=lookup or characters"
            )

    def weight(self) -> nn.Parameter | None:
        """The (V, D) table that an output layer may tie to, or None."""
        return None
