"""Random numbers that depend on a key alone: the same for any number of threads, entered anywhere, on a CPU or a GPU.

`hashed` is a bijection of 32 bits with little bias (two multiplications, Wellons' constants); the n-th number of a key
is the hash of the key and n. `Noise` is Walker's and Vose's table: a draw looks at one place of it, however many words
there are.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from foresay.kernels.word_vectors.plan import Noise

ALL = 0xFFFFFFFF
STEP = 0x1E3779B9  # odd, under 2**31: products of 32 bits stay within 63


@njit(cache=True, nogil=True, inline="always")
def hashed(x: int) -> int:
    x ^= x >> 16
    x = (x * 0x21F0AAAD) & ALL
    x ^= x >> 15
    x = (x * 0x735A2D97) & ALL
    return x ^ (x >> 15)


@njit(cache=True, nogil=True, inline="always")
def number(key: int, n: int) -> int:
    """The n-th of a key: 32 bits."""
    return hashed((key + n * STEP) & ALL)


@njit(cache=True, nogil=True, inline="always")
def draw(noise: Noise, key: int, n: int) -> int:
    """The n-th word of a key."""
    word = (number(key, 2 * n) * len(noise.limits)) >> 32
    return word if number(key, 2 * n + 1) < noise.limits[word] else noise.others[word]


@njit(cache=True, nogil=True)
def share_out(probabilities: np.ndarray, limits: np.ndarray, others: np.ndarray) -> None:
    """Fills the table: a word with too little is filled up by one with too much."""
    size = len(probabilities)
    small, large = np.empty(size, np.int64), np.empty(size, np.int64)
    smalls, larges = 0, 0
    left = probabilities * size
    for word in range(size):
        limits[word], others[word] = 1 << 32, word
        if left[word] < 1.0:
            small[smalls] = word
            smalls += 1
        else:
            large[larges] = word
            larges += 1
    while smalls and larges:
        smalls -= 1
        poor, rich = small[smalls], large[larges - 1]
        limits[poor], others[poor] = int(left[poor] * (1 << 32)), rich
        left[rich] -= 1.0 - left[poor]
        if left[rich] < 1.0:
            larges -= 1
            small[smalls] = rich
            smalls += 1


def noise_of(probabilities: np.ndarray) -> Noise:
    """A table to draw from a distribution; words of probability 0 are never drawn."""
    noise = Noise(np.empty(len(probabilities), np.int64), np.empty(len(probabilities), np.int64))
    share_out(np.asarray(probabilities, np.float64) / np.sum(probabilities), noise.limits, noise.others)
    return noise
