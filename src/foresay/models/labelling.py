"""What every model keeps that gives labels to whole texts: from scores of the labels to a loss and probabilities.

    one label      P = softmax(z),  loss = sum_n w_n -log P(label_n) / sum_n w_n,      w_n the weight of text n's label
    several        P_c = sigmoid(z_c) for each by itself,  loss = mean_n sum_c w_c -log P_c(has it, or has it not)

After training P is calibrated: z / temperature in place of z, one number that makes held-out labels most probable
(Guo et al. 2017). It changes no answer, only how sure it is; 1 until it is fitted, and in the loss always.

Weights are 1, given by name (others are 1), or `balanced`: labels given in all / (labels * times that this is given).
They are of the training alone; what is measured has none.

batch (B, T) -> z (B, C). Nothing is carried from batch to batch: the state is empty.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from foresay.data.batch import Batch
from foresay.data.label_shards import LabelSet
from foresay.encode.encoder import State
from foresay.errors import UserError, nearest
from foresay.models.task import Task

Weights = Literal["balanced"] | dict[str, float] | None


class Labelling(Task):
    """`learn_labels`, then `build`; then train (`loss`), `log_probs`, `nats`."""

    sequence = False
    causal = False
    reads = "labels"
    labels = LabelSet(("0", "1"), False, (1, 1))  # until it is told others

    def learn_labels(self, labels: LabelSet) -> None:
        """What the texts are labelled with; told before it is built."""
        self.labels = labels

    def scores(self, batch: Batch) -> Tensor:
        """z (B, C)."""
        raise AssertionError(f"{type(self).__name__} has no scores")

    def loss(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        assert batch.labels is not None
        return self.loss_of(self.scores(batch), batch.labels), {}

    def loss_of(self, z: Tensor, labels: Tensor) -> Tensor:
        """The same of scores."""
        weights = self._weights()
        if self.labels.several:
            each = F.binary_cross_entropy_with_logits(z, labels.to(z.dtype), weights, reduction="none")
            return each.sum(1).mean()
        return F.cross_entropy(z, labels, weights)

    def weight_of(self, batch: Batch) -> float:
        """Its texts, each by the weight of its label where it has one."""
        weights = self._weights()
        if weights is None or self.labels.several or batch.labels is None:
            return batch.weight
        return float(weights.cpu()[batch.labels.cpu()].sum())

    def log_probs(self, batch: Batch) -> Tensor:
        """log P (B, C) of each label: of one among all, or of having each."""
        z = self.scores(batch) / self.heat
        return F.logsigmoid(z) if self.labels.several else z.log_softmax(1)

    def nats(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """-log P (B,) of the labels that each text has, and P (B, C)."""
        assert batch.labels is not None
        return self.nats_of(self.scores(batch).double() / self.heat, batch.labels)

    def nats_of(self, z: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The same of scores as they are."""
        if self.labels.several:
            each = F.binary_cross_entropy_with_logits(z, labels.to(z.dtype), reduction="none")
            return each.sum(1), z.sigmoid()
        log_probs = z.log_softmax(1)
        return -log_probs.gather(1, labels[:, None])[:, 0], log_probs.exp()

    @property
    def heat(self) -> Tensor | float:
        """The temperature that scores are divided by."""
        return self._buffers.get("temperature") if self._buffers.get("temperature") is not None else 1.0  # pyright: ignore[reportReturnType]

    def weigh(self, weights: Weights) -> None:
        """Puts the weight of each label beside the model's own tensors."""
        labels = self.labels
        if isinstance(weights, dict):
            for name, weight in weights.items():
                if name not in labels.names:
                    raise UserError(
                        f"weights has {name!r}, which is no label; allowed: {', '.join(labels.names)}"
                        f"{nearest(name, labels.names)}"
                    )
                if not 0 < weight < math.inf:
                    raise UserError(f"weights: {name!r} weighs {weight:g}; allowed: finite numbers > 0")
            found = [weights.get(name, 1.0) for name in labels.names]
        elif weights == "balanced":
            found = [sum(labels.counts) / (len(labels.names) * max(count, 1)) for count in labels.counts]
        else:
            found = None
        self.register_buffer("weights", None if found is None else torch.tensor(found))

    def _weights(self) -> Tensor | None:
        return self.get_buffer("weights") if self._buffers.get("weights") is not None else None
