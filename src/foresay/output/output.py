"""What every output layer keeps (contract 4): features (..., H) -> a distribution over V symbols.

The training loss may be cheap; `log_prob`, `log_probs` and `sample` are exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from foresay.parts import Part


class Output(Part, nn.Module):
    """`build(in_width, vocabulary, table)` fixes the sizes; `table` is the (V, D) embedding to tie to, if any."""

    part_kind = "output"
    wants_counts = False  # True: `learn_counts` is called once, after `build` and before training
    of_levels = False  # True: only over the levels of pictures and sounds, which it takes as numbers
    notes: Sequence[str] = ()  # what a person should know about it

    def build(self, in_width: int, vocabulary: int, table: nn.Parameter | None = None) -> None:
        raise AssertionError(f"{type(self).__name__} has no build")

    def learn_counts(self, counts: np.ndarray) -> None:
        """How often each symbol stands in the training text, (V,). Until it is told, all are alike."""

    def loss(self, features: Tensor, targets: Tensor, mask: Tensor | None = None) -> Tensor:
        """Mean training loss in nats over the real positions; 0 when there are none."""
        raise AssertionError(f"{type(self).__name__} has no loss")

    def log_prob(self, features: Tensor, targets: Tensor) -> Tensor:
        """Exact log P(target) per position, (..., H), (...) -> (...), without V-wide rows for all positions."""
        raise AssertionError(f"{type(self).__name__} has no log_prob")

    def log_probs(self, features: Tensor) -> Tensor:
        """Exact log P over all symbols, (..., H) -> (..., V)."""
        raise AssertionError(f"{type(self).__name__} has no log_probs")

    def sample(self, features: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """One symbol per position, (..., H) -> (...)."""
        probabilities = self.log_probs(features).exp()
        drawn = torch.multinomial(probabilities.reshape(-1, probabilities.shape[-1]), 1, generator=generator)
        return drawn.view(features.shape[:-1])
