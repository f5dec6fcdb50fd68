"""The baseline of text classification: logistic regression on which words a text has.

    x_v = how often word v stands in the text, or with `counts: binary` whether it does
    z   = x W + b,    minimise  sum_n -log P(labels_n) + ||W||^2 / (2 C),    C = `strength`

Convex, so there is one best W: L-BFGS over all texts finds it, the same for every seed. W begins at zero. Marks such as
<unk> count as words.

batch (B, T) -> z (B, labels).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
import torch
import torch.nn.functional as F
from annotated_types import Gt
from torch import Tensor, nn

from foresay.data.batch import Batch
from foresay.data.label_batches import labelled
from foresay.data.row_shards import lengths
from foresay.data.shards import Shards
from foresay.models.labelling import Labelling, Weights
from foresay.models.task import Fitting
from foresay.parts import Size, part
from foresay.text.tokens import PAD, STOP


@part("task", "bag-of-words")
class BagOfWords(Labelling):
    """Logistic regression on the words of a text: the baseline that knows no order."""

    doing = "fitting"
    notes: tuple[str, ...] = ()
    history: tuple[Any, ...] = ()  # it has no epochs

    def __init__(
        self,
        counts: Literal["binary", "all"] = "binary",
        strength: Annotated[float, Gt(0)] = 1.0,
        rounds: Size = 100,
        weights: Weights = None,
    ):
        super().__init__()
        self.counts, self.strength, self.rounds = counts, strength, rounds
        self.weighing: Weights = weights

    def build(self, vocabulary: int) -> None:
        self.vocabulary = vocabulary
        self.weight = nn.Parameter(torch.zeros(vocabulary, len(self.labels.names)))
        self.bias = nn.Parameter(torch.zeros(len(self.labels.names)))
        self.weigh(self.weighing)

    def scores(self, batch: Batch) -> Tensor:
        assert batch.ids is not None
        real = torch.ones_like(batch.ids, dtype=torch.bool) if batch.mask is None else batch.mask
        ids = batch.ids.where(real, PAD).sort(1).values
        real = ids != PAD
        if self.counts == "binary":
            real = real & F.pad(ids[:, 1:] != ids[:, :-1], (1, 0), value=True)
        return (F.embedding(ids, self.weight) * real[..., None]).sum(1) + self.bias

    def fit(self, text: Shards, tell: Callable[[float], None] | None = None, how: Fitting | None = None) -> None:
        """Finds the best weights for all texts at once."""
        texts = labelled(text)
        bags = self._bags(texts, None if how is None else how.longest)
        labels = torch.from_numpy(texts.labels_of(np.arange(texts.documents))).to(self.device)
        labels = labels.double() if self.labels.several else labels
        weight, bias = (one.detach().double().requires_grad_() for one in (self.weight, self.bias))
        weights = self._weights()
        weights = None if weights is None else weights.double()
        search = torch.optim.LBFGS(
            [weight, bias],
            max_iter=self.rounds,
            tolerance_grad=1e-6,
            tolerance_change=1e-12,
            line_search_fn="strong_wolfe",
        )
        calls = 0

        def cost() -> Tensor:
            nonlocal calls
            search.zero_grad()
            z = torch.sparse.mm(bags, weight) + bias
            if self.labels.several:
                total = F.binary_cross_entropy_with_logits(z, labels, weights, reduction="sum")
            else:
                total = F.cross_entropy(z, labels, weights, reduction="sum")
            total = total + weight.square().sum() / (2 * self.strength)
            total.backward()
            calls += 1
            if tell is not None:
                tell(min(calls / self.rounds, 1.0))
            return total

        search.step(cost)  # pyright: ignore[reportArgumentType]
        with torch.no_grad():
            self.weight.copy_(weight)
            self.bias.copy_(bias)

    def _bags(self, texts: Any, longest: int | None) -> Tensor:
        """x (N, V) of all texts, as far as they are read, sparse, in float64."""
        flat, sizes = texts.slice(0, len(texts)), lengths(texts)
        rows = np.repeat(np.arange(texts.documents), sizes)
        within = np.arange(len(flat)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        read = (flat != STOP) & (within < (len(flat) if longest is None else longest))
        keys, counts = np.unique(rows[read] * self.vocabulary + flat[read], return_counts=True)
        places = torch.from_numpy(np.stack([keys // self.vocabulary, keys % self.vocabulary]))
        values = torch.ones(len(keys)) if self.counts == "binary" else torch.from_numpy(counts)
        bags = torch.sparse_coo_tensor(
            places, values.double(), (texts.documents, self.vocabulary), check_invariants=False
        )
        return bags.coalesce().to(self.device)
