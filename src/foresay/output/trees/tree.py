"""A binary tree whose leaves are the V words: every word is a path of turns from the root.

    P(v) = prod over the path of v of sigmoid(sign * score[node])      sign +1: first child, -1: second child

sigmoid(x) + sigmoid(-x) = 1 at each of the V - 1 inner nodes, so the V words sum to one whatever the scores are.
Inner nodes are numbered from 0, the root. One word alone has an empty path.

scores (V-1,) -> probabilities (V,); the path of word v is nodes[first[v]:first[v+1]], signs the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from foresay.errors import UserError

TYPES = {"first": np.int64, "nodes": np.int32, "signs": np.int8}


@dataclass(frozen=True, eq=False)
class Tree:
    """The paths of all words, one after the other."""

    first: np.ndarray  # (V+1,) int64
    nodes: np.ndarray  # int32, the inner nodes of each path from the root
    signs: np.ndarray  # int8, +1 on to the first child, -1 on to the second

    @classmethod
    def of_children(cls, children: np.ndarray) -> Tree:
        """From the two children of each inner node, (V-1, 2): c >= 0 is inner node c, c < 0 is word -1 - c.

        A node is numbered after its parent.
        """
        from foresay.kernels import tree as kernel  # numba takes a second to import

        depths = kernel.find_depths(children)
        first = np.zeros(len(depths) + 1, TYPES["first"])
        np.cumsum(depths, out=first[1:])
        nodes, signs = np.empty(first[-1], TYPES["nodes"]), np.empty(first[-1], TYPES["signs"])
        kernel.fill_paths(children, first, nodes, signs)
        return cls(first, nodes, signs)

    @classmethod
    def from_arrays(cls, named: Mapping[str, np.ndarray]) -> Tree:
        """What `arrays` gave, read from a file: refused unless it is a whole tree."""
        missing = [name for name in TYPES if name not in named]
        wrong = f"{missing[0]} is missing" if missing else cls(*(named[name] for name in TYPES)).what_is_wrong()
        if wrong is not None:
            raise UserError(f"these arrays are no tree: {wrong}; copy the file again or build the tree anew")
        return cls(*(named[name] for name in TYPES))

    def arrays(self) -> dict[str, np.ndarray]:
        """What a file keeps of the tree, by name."""
        return {name: getattr(self, name) for name in TYPES}

    def __len__(self) -> int:
        """V, the number of words."""
        return len(self.first) - 1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        theirs = other.arrays()
        return all(np.array_equal(own, theirs[name]) for name, own in self.arrays().items())

    @property
    def depths(self) -> np.ndarray:
        """The number of turns to each word, (V,)."""
        return np.diff(self.first)

    def expected_depth(self, counts: np.ndarray) -> float:
        """sum_v P(v) depth(v), P(v) in proportion to the counts: how many turns a word of the text takes."""
        counts = np.asarray(counts, np.float64)
        if counts.shape != (len(self),):
            raise UserError(f"counts of shape {counts.shape} for a tree of {len(self)} words; give one number for each")
        if not counts.sum() > 0:
            raise UserError("the counts sum to 0; a mean over the text needs one count above 0")
        return float(counts @ self.depths / counts.sum())

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """P of every word, (V,), from the score of every inner node, (V-1,)."""
        if len(self) == 1:
            return np.ones(1)
        turns = -np.logaddexp(0.0, -self.signs * np.asarray(scores, np.float64)[self.nodes])
        return np.exp(np.add.reduceat(turns, self.first[:-1]))

    def children(self) -> np.ndarray:
        """The two children of each inner node, (V-1, 2), as `of_children` takes them."""
        found = np.empty((len(self) - 1, 2), np.int64)
        found[self.nodes, self._sides()] = self._places()
        return found

    def _sides(self) -> np.ndarray:
        """Which child each turn takes: 0 or 1."""
        return (self.signs < 0).astype(np.int64)

    def _places(self) -> np.ndarray:
        """Where each turn leads: the next inner node of its path, or -1 - v at the end of word v's."""
        found = np.append(self.nodes[1:].astype(np.int64), 0)[: len(self.nodes)]
        words = np.flatnonzero(self.depths)
        found[self.first[words + 1] - 1] = -1 - words
        return found

    def what_is_wrong(self) -> str | None:
        """Why these arrays are no tree of V words; None when they are one."""
        return self._wrong_arrays() or self._wrong_paths()

    def _wrong_arrays(self) -> str | None:
        """What could not even be read as paths."""
        for name, kind in TYPES.items():
            array = getattr(self, name)
            if array.ndim != 1 or array.dtype != kind:
                return f"{name} is {array.dtype} of {array.ndim} dimensions, not {np.dtype(kind)} of one"
        if len(self.first) < 2 or self.first[0] != 0 or (np.diff(self.first) < 0).any():
            return "first does not rise from 0"
        if not self.first[-1] == len(self.nodes) == len(self.signs):
            return f"paths of {self.first[-1]} turns with {len(self.nodes)} nodes and {len(self.signs)} signs"
        if len(self.nodes) and not 0 <= self.nodes.min() <= self.nodes.max() < len(self) - 1:
            return f"{len(self)} words have {len(self) - 1} inner nodes, and one of another number is named"
        if not np.isin(self.signs, (1, -1)).all():
            return "a sign is neither 1 nor -1"
        return None

    def _wrong_paths(self) -> str | None:
        """All paths begin at the root, and each turn leads to one place. Then they are a tree:

        V turns lead to words and r - 1 at least to the r - 1 other nodes reached, of 2 r turns and r < V in all; so
        r = V - 1, every node is reached, and each by one turn.
        """
        if len(self) == 1:
            return None
        if (self.depths == 0).any() or self.nodes[self.first[:-1]].any():
            return "a path does not begin at the root"
        if (self.children()[self.nodes, self._sides()] != self._places()).any():
            return "one turn leads to two places"
        return None
