"""What a prediction is measured by.

negative       - log sigmoid(h . u_w) - sum over n drawn words of log sigmoid(-h . u_n)
hierarchical   - sum over the inner nodes on w's way of log sigmoid(y_node h . u_node)
softmax        - h . u_w + log sum_v exp(h . u_v)
"""

from __future__ import annotations

import numpy as np

from foresay.kernels.word_vectors.plan import NO_NOISE, NO_WAYS, Noise, Plan, Ways
from foresay.output.trees.builder import Builder
from foresay.parts import Amount, Count, Part, part


class Objective(Part):
    """`rows` of the output table, and what the loops need to know."""

    part_kind = "objective"

    def rows(self, vocabulary: int) -> int:
        return vocabulary

    def prepare(self, plan: Plan, counts: np.ndarray) -> tuple[Plan, Noise, Ways]:
        """From the counts of the words, 0 for those that do not take part."""
        raise AssertionError(f"{type(self).__name__} has no prepare")

    def heat(self, counts: np.ndarray) -> float:
        """How often the row that is drawn most is drawn for one word."""
        return 0.0


@part("objective", "negative")
class Negative(Objective):
    """A word against `number` others drawn in proportion to count ** power; power 0: all alike."""

    def __init__(self, number: Count = 5, power: Amount = 0.75):
        self.number, self.power = number, power

    def prepare(self, plan: Plan, counts: np.ndarray) -> tuple[Plan, Noise, Ways]:
        from foresay.kernels.word_vectors.chance import noise_of

        words = (plan.before + plan.after) if plan.outward else 1
        plan = plan._replace(negatives=self.number, most=in_threes(words * (1 + self.number)))
        return plan, noise_of(self._weights(counts)), NO_WAYS

    def heat(self, counts: np.ndarray) -> float:
        weights = self._weights(counts)
        return self.number * float(weights.max() / weights.sum())

    def _weights(self, counts: np.ndarray) -> np.ndarray:
        return np.where(counts > 0, np.maximum(counts, 1).astype(np.float64) ** self.power, 0.0)


@part("objective", "hierarchical")
class Hierarchical(Objective):
    """A word as its way through a binary tree."""

    def __init__(self, tree: Builder | str = "huffman"):
        self.tree = tree

    def rows(self, vocabulary: int) -> int:
        return max(vocabulary - 1, 1)

    def prepare(self, plan: Plan, counts: np.ndarray) -> tuple[Plan, Noise, Ways]:
        assert isinstance(self.tree, Builder)
        tree = self.tree.build(counts)
        words = (plan.before + plan.after) if plan.outward else 1
        plan = plan._replace(negatives=0, most=in_threes(words * int(tree.depths[counts > 0].max(initial=1))))
        return plan, NO_NOISE, Ways(tree.first, tree.nodes.astype(np.int64), tree.signs.astype(np.float32))

    def heat(self, counts: np.ndarray) -> float:
        return 1.0  # every way begins at the root


@part("objective", "softmax")
class Softmax(Objective):
    """The whole softmax: exact, and slow for many words."""

    def prepare(self, plan: Plan, counts: np.ndarray) -> tuple[Plan, Noise, Ways]:
        return plan._replace(negatives=0, most=0), NO_NOISE, NO_WAYS

    def heat(self, counts: np.ndarray) -> float:
        return 1.0  # every row takes part in every prediction


def in_threes(size: int) -> int:
    """Up to the next multiple of 3."""
    return -(-size // 3) * 3
