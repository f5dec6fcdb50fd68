"""Adaptive softmax (Grave et al. 2017): frequent symbols in a short list, rarer ones in clusters of narrower rows.

    P(v) = P_head(v)                          for the `cutoffs[0]` most frequent symbols
    P(v) = P_head(cluster c) P_c(v)           for the others;  P_c = softmax(W_c (R_c h)),  R_c: H -> H / factor ** c

A position costs the head and, for a rare target, one narrow cluster. Ranks are those of the training text, and biases
begin at its shares. By default the head is a fifth of the vocabulary; one above 20,000 has two clusters, from a
twentieth and from a fifth on.

features (..., H) -> log_probs (..., V).
"""

from __future__ import annotations

import itertools

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.errors import UserError
from foresay.kernels.linear_cross_entropy import linear_cross_entropy, row_chunks
from foresay.output.output import Output
from foresay.output.rows import full
from foresay.parts import Size, part

LARGE = 20_000


@part("output", "adaptive")
class Adaptive(Output):
    """Softmax over frequent symbols, and over the rest in clusters by frequency; `cutoffs` are ranks."""

    wants_counts = True
    rank: Tensor

    def __init__(self, cutoffs: list[Size] | None = None, factor: Size = 4):
        super().__init__()
        if cutoffs is not None and (not cutoffs or sorted(set(cutoffs)) != cutoffs):
            raise UserError(f"output.cutoffs={cutoffs}; allowed: rising ranks, such as [2000] or [2000, 10000]")
        self.cutoffs, self.factor = cutoffs, factor

    def build(self, in_width: int, vocabulary: int, table: nn.Parameter | None = None) -> None:
        cuts = self.cutoffs or ([vocabulary // 5] if vocabulary <= LARGE else [vocabulary // 20, vocabulary // 5])
        cuts = [max(cut, 1) for cut in cuts]
        if cuts[-1] >= vocabulary:
            raise UserError(f"output.cutoffs={cuts}, and the vocabulary has {vocabulary} symbols; give smaller ranks")
        self.edges = [*cuts, vocabulary]
        self.register_buffer("rank", torch.arange(vocabulary))  # of each id, by falling frequency
        self.head = nn.Linear(in_width, cuts[0] + len(cuts))
        widths = [max(in_width // self.factor**n, 1) for n in range(1, len(cuts) + 1)]
        self.narrow = nn.ModuleList(nn.Linear(in_width, width, bias=False) for width in widths)
        sizes = [high - low for low, high in itertools.pairwise(self.edges)]
        self.tails = nn.ModuleList(nn.Linear(width, size) for width, size in zip(widths, sizes, strict=True))
        for _, _, _, tail in self._clusters():
            nn.init.zeros_(tail.bias)
        nn.init.zeros_(self.head.bias)

    def learn_counts(self, counts: np.ndarray) -> None:
        order = np.argsort(-counts, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        self.rank.copy_(torch.from_numpy(rank))
        shares = torch.from_numpy((counts[order] + 1.0) / (counts + 1.0).sum())  # where the biases begin
        with torch.no_grad():
            masses = [shares[low:high].sum() for low, high in itertools.pairwise(self.edges)]
            self.head.bias.copy_(torch.cat([shares[: self.edges[0]], torch.stack(masses)]).log())
            for low, high, _, tail in self._clusters():
                tail.bias.copy_(shares[low:high].log())

    def loss(self, features: Tensor, targets: Tensor, mask: Tensor | None = None) -> Tensor:
        h, rank = features.flatten(0, -2), self.rank[targets.flatten()]
        if mask is not None:
            h, rank = h[mask.flatten()], rank[mask.flatten()]
        loss = linear_cross_entropy(h, self.head.weight, self.head.bias, self._in_head(rank))
        for low, high, narrow, tail in self._clusters():
            inside = ((rank >= low) & (rank < high)).nonzero()[:, 0]
            mean = linear_cross_entropy(narrow(h[inside]), tail.weight, tail.bias, rank[inside] - low)
            loss = loss + mean * (len(inside) / max(len(h), 1))
        return loss

    def log_prob(self, features: Tensor, targets: Tensor) -> Tensor:
        h, rank = features.flatten(0, -2), self.rank[targets.flatten()]
        found = _picked(h, self.head, self._in_head(rank))
        for low, high, narrow, tail in self._clusters():
            inside = ((rank >= low) & (rank < high)).nonzero()[:, 0]
            found = found.index_add(0, inside, _picked(narrow(h[inside]), tail, rank[inside] - low))
        return found.view(targets.shape)

    def log_probs(self, features: Tensor) -> Tensor:
        head = full(self.head(features)).log_softmax(-1)
        found = [head[..., : self.edges[0]]]
        for n, (_, _, narrow, tail) in enumerate(self._clusters()):
            found.append(head[..., self.edges[0] + n, None] + full(tail(narrow(features))).log_softmax(-1))
        return torch.cat(found, -1)[..., self.rank]

    def _in_head(self, rank: Tensor) -> Tensor:
        """The place in the head: the symbol's own, or that of its cluster."""
        cluster = torch.bucketize(rank, torch.tensor(self.edges[:-1], device=rank.device), right=True) - 1
        return torch.where(rank < self.edges[0], rank, self.edges[0] + cluster)

    def _clusters(self) -> list[tuple[int, int, nn.Linear, nn.Linear]]:
        edges = itertools.pairwise(self.edges)
        return [(*edge, narrow, tail) for edge, narrow, tail in zip(edges, self.narrow, self.tails, strict=True)]  # pyright: ignore[reportReturnType]


def _picked(h: Tensor, linear: nn.Linear, places: Tensor) -> Tensor:
    """log softmax at one place for each row, (N, D), (N,) -> (N,), some rows at a time."""
    found = [full(h.new_zeros(0))]
    for rows in row_chunks(len(h), linear.out_features, h.device):
        logits = full(F.linear(h[rows], linear.weight, linear.bias))
        found.append(logits.gather(1, places[rows, None])[:, 0] - logits.logsumexp(1))
    return torch.cat(found)
