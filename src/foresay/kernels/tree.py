"""The loops of building trees over a vocabulary, compiled by numba when they are first called.

Without numba's compiler (NUMBA_DISABLE_JIT=1) they run as the plain Python they are. What they are for stands where
they are called, in output/trees/. Children (V-1, 2): c >= 0 is inner node c, c < 0 is word -1 - c; 0 is the root.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def join_lightest(weights: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Huffman's children of each inner node; `weights` (V,) rise and belong to `words` (V,).

    The piece made last is the root, so that every node is numbered after its parent; the lighter child is the first.
    """
    inner = len(weights) - 1
    children, heavy = np.empty((inner, 2), np.int64), np.empty(inner, np.float64)
    word, piece = 0, 0  # the lightest that are not joined yet
    for made in range(inner):
        heavy[made] = 0.0
        for side in range(2):
            if word <= inner and (piece == made or weights[word] <= heavy[piece]):
                children[inner - 1 - made, side] = -1 - words[word]
                heavy[made] += weights[word]
                word += 1
            else:
                children[inner - 1 - made, side] = inner - 1 - piece
                heavy[made] += heavy[piece]
                piece += 1
    return children


@njit(cache=True, nogil=True)
def find_depths(children: np.ndarray) -> np.ndarray:
    """The number of turns to each word, (V,)."""
    depths, inner = np.zeros(len(children) + 1, np.int64), np.zeros(len(children), np.int64)
    for node in range(len(children)):
        for side in range(2):
            child = children[node, side]
            if child < 0:
                depths[-1 - child] = inner[node] + 1
            else:
                inner[child] = inner[node] + 1
    return depths


@njit(cache=True, nogil=True)
def fill_paths(children: np.ndarray, first: np.ndarray, nodes: np.ndarray, signs: np.ndarray) -> None:
    """The path of every word, written from its end back to the root."""
    above, turns = np.empty(len(children), np.int64), np.empty(len(children), np.int64)
    for node in range(len(children)):
        for side in range(2):
            child, turn = children[node, side], 1 - 2 * side
            if child >= 0:
                above[child], turns[child] = node, turn
                continue
            begin, at, place = first[-1 - child], node, first[-child] - 1
            while place >= begin:
                nodes[place], signs[place] = at, turn
                at, turn = above[at], turns[at]
                place -= 1
