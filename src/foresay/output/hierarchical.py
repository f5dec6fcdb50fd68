"""Hierarchical softmax: a symbol is a path through a binary tree, and its probability the product of the turns.

    P(v | h) = prod over the path of v of sigmoid(sign (w_node . h + b_node))

V - 1 inner nodes have rows in place of the V symbols; a position costs as many as its path has: log2 V in a balanced
tree, and no more than the entropy of the text + 1 on average in Huffman's. The probabilities of all V symbols are found
level by level from the root. Biases begin at the log-odds of the training text's counts, where P is a symbol's share.

`tree` builds it from the counts. A semantic one clusters vectors: those of `pretrained` (a file, a run of word vectors,
or a language model trained before, as Mnih and Hinton do), or else the embedding's own as they are before training.

features (..., H) -> log_probs (..., V).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.embed.pretrained import matched
from foresay.errors import UserError
from foresay.kernels.paths import Paths, path_log_prob, path_loss
from foresay.output.output import Output
from foresay.output.rows import full
from foresay.output.trees.balanced import Balanced
from foresay.output.trees.builder import Builder
from foresay.output.trees.semantic import Semantic
from foresay.output.trees.tree import Tree
from foresay.parts import Rate, part


@part("output", "hierarchical")
class Hierarchical(Output):
    """A tree over the symbols: the loss of a position takes O(log V); gradients of the weights are dense."""

    wants_counts = True
    symbols: Sequence[str] | None = None  # the vocabulary, for words of `pretrained`; given before it is built
    branches: Tensor  # (V-1, 2), as `Tree.of_children` takes them

    def __init__(self, tree: Builder | str = "huffman", *, pretrained: str | None = None, bound: Rate | None = None):
        super().__init__()
        self.tree, self.pretrained, self.bound = tree, pretrained, bound
        if pretrained is not None and not isinstance(tree, Semantic):
            raise UserError("output.pretrained is for tree=semantic, which clusters vectors; leave it out")

    def build(self, in_width: int, vocabulary: int, table: nn.Parameter | None = None) -> None:
        if vocabulary < 2:
            raise UserError(f"a tree over {vocabulary} symbols; hierarchical needs two or more")
        bound = self.bound or in_width**-0.5
        self.weight = nn.Parameter(torch.empty(vocabulary - 1, in_width).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.zeros(vocabulary - 1))
        self._own = None if table is None else table.detach()
        self._known: Ways | None = None
        self.register_load_state_dict_post_hook(lambda module, _: module.forget())
        begun = Balanced() if isinstance(self.tree, Semantic) else self.tree
        assert isinstance(begun, Builder)
        self.register_buffer("branches", torch.from_numpy(begun.build(np.ones(vocabulary)).children()))

    def learn_counts(self, counts: np.ndarray) -> None:
        assert isinstance(self.tree, Builder)
        vectors = self._vectors(len(counts)) if isinstance(self.tree, Semantic) else None
        tree = self.tree.build(counts + 1.0, vectors)
        self.branches.copy_(torch.from_numpy(tree.children()))
        self.forget()
        with torch.no_grad():
            self.bias.copy_(torch.from_numpy(log_odds(tree, counts + 1.0)))

    def _vectors(self, vocabulary: int) -> np.ndarray:
        if self.pretrained is not None:
            places, vectors = matched(self.pretrained, self.symbols)
            found = torch.randn(vocabulary, vectors.shape[1]) * vectors.std()  # the others anywhere
            found[places] = vectors
            self.notes = [
                f"{len(places):,} of {vocabulary:,} symbols have their place in the tree by {self.pretrained}"
            ]
            return found.numpy()
        if self._own is None:
            raise UserError("tree=semantic clusters vectors, and this embedding has none; give output.pretrained")
        return self._own.cpu().numpy()

    def forget(self) -> None:
        """Another tree has come."""
        self._known = None

    def ways(self) -> Ways:
        """What follows from the tree, on its device."""
        if self._known is None or self._known.paths.first.device != self.branches.device:
            self._known = Ways(Tree.of_children(self.branches.cpu().numpy()), self.branches.device)
        return self._known

    def loss(self, features: Tensor, targets: Tensor, mask: Tensor | None = None) -> Tensor:
        h, ids = features.flatten(0, -2), targets.flatten()
        if mask is not None:
            h, ids = h[mask.flatten()], ids[mask.flatten()]
        return path_loss(h, self.weight, self.bias, self.ways().paths, ids)

    def log_prob(self, features: Tensor, targets: Tensor) -> Tensor:
        h, ids = features.flatten(0, -2), targets.flatten()
        return path_log_prob(h, self.weight, self.bias, self.ways().paths, ids).view(targets.shape)

    def log_probs(self, features: Tensor) -> Tensor:
        return self.ways().spread(full(F.linear(features, self.weight, self.bias)))


class Ways:
    """A tree as tensors: the path of each symbol, and the levels that all symbols are found by."""

    def __init__(self, tree: Tree, device: torch.device):
        self.paths = Paths(
            torch.from_numpy(tree.first), torch.from_numpy(tree.nodes).long(), torch.from_numpy(tree.signs).float()
        ).to(device)
        children = tree.children()
        level, found, place, passed = np.zeros(1, np.int64), [], np.empty(len(tree), np.int64), 0
        self.levels: list[tuple[Tensor, Tensor]] = []  # nodes of a level; where the next one's come from
        while len(level):
            reached = children[level].T.ravel()  # the first children of all, then the second ones
            inner = np.flatnonzero(reached >= 0)
            place[-1 - reached[reached < 0]] = passed + np.flatnonzero(reached < 0)
            passed += len(reached)
            found.append((torch.from_numpy(level).to(device), torch.from_numpy(inner).to(device)))
            level = reached[inner]
        self.levels, self.place = found, torch.from_numpy(place).to(device)

    def spread(self, scores: Tensor) -> Tensor:
        """log P of all symbols from the scores of all inner nodes: (..., V-1) -> (..., V)."""
        first, second = F.logsigmoid(scores), F.logsigmoid(-scores)
        above, found = torch.zeros_like(scores[..., :1]), []
        for nodes, inner in self.levels:
            reached = torch.cat([above + first[..., nodes], above + second[..., nodes]], -1)
            found.append(reached)
            above = reached[..., inner]
        return torch.cat(found, -1)[..., self.place]


def log_odds(tree: Tree, counts: np.ndarray) -> np.ndarray:
    """log of how often each inner node is left by its first child over its second, (V-1,)."""
    weights = np.repeat(counts, tree.depths)
    left = np.bincount(tree.nodes, np.where(tree.signs > 0, weights, 0.0), len(tree) - 1)
    right = np.bincount(tree.nodes, np.where(tree.signs < 0, weights, 0.0), len(tree) - 1)
    return np.log(left / right)
