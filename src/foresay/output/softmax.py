"""Full softmax: the loss is -log P(target), exact.

It never holds the logits of all positions (kernels/linear_cross_entropy).

features (..., H) -> log_probs (..., V).
"""

from __future__ import annotations

from torch import Tensor

from foresay.kernels.linear_cross_entropy import linear_cross_entropy
from foresay.output.rows import Rows
from foresay.parts import part


@part("output", "softmax")
class Softmax(Rows):
    """Full softmax over the vocabulary, its rows tied to the embedding or its own."""

    def loss(self, features: Tensor, targets: Tensor, mask: Tensor | None = None) -> Tensor:
        h = self.inner(features).flatten(0, -2)
        kept = None if mask is None else mask.flatten()
        return linear_cross_entropy(h, self.weight, self.bias, targets.flatten(), kept)
