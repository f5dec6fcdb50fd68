"""What tests of trees share: counts to draw, an independent Huffman, and a tree's paths as text."""

from __future__ import annotations

import heapq
import itertools

import numpy as np
from hypothesis import strategies as st

from foresay.output.trees.tree import Tree

counts_drawn = st.lists(st.integers(0, 50) | st.integers(0, 10**6), min_size=1, max_size=60).filter(sum)


def huffman_cost(counts: list[int]) -> int:
    """The sum of count * depth of an optimal tree, by a heap: each join costs the weight of what it makes."""
    heap, cost = list(counts), 0
    heapq.heapify(heap)
    while len(heap) > 1:
        joined = heapq.heappop(heap) + heapq.heappop(heap)
        cost += joined
        heapq.heappush(heap, joined)
    return cost


def cheapest(counts: list[int]) -> int:
    """The sum of count * depth of the best tree of all, by trying every way to cut the words in two."""
    if len(counts) == 1:
        return 0
    best = None
    for size in range(1, len(counts) // 2 + 1):
        for chosen in itertools.combinations(range(len(counts)), size):
            one = [counts[i] for i in chosen]
            other = [count for i, count in enumerate(counts) if i not in chosen]
            cost = sum(counts) + cheapest(one) + cheapest(other)
            best = cost if best is None else min(best, cost)
    assert best is not None
    return best


def codes(tree: Tree) -> list[str]:
    """Each word's turns: 0 to the first child, 1 to the second."""
    return [
        "".join("0" if sign > 0 else "1" for sign in tree.signs[low:high])
        for low, high in itertools.pairwise(tree.first)
    ]


def paths(tree: Tree) -> list[list[int]]:
    """Each word's inner nodes."""
    return [tree.nodes[low:high].tolist() for low, high in itertools.pairwise(tree.first)]


def entropy(counts: np.ndarray) -> float:
    """H(P) in bits."""
    p = np.asarray(counts, float) / np.sum(counts)
    p = p[p > 0]
    return float(-(p * np.log2(p)).sum())
