"""Samples of -1 .. 1 as one of N levels, and back, by one of two laws.

mu       f(x) = sign(x) ln(1 + mu |x|) / ln(1 + mu),  mu = N - 1      fine where it is quiet, as ITU-T G.711 and WaveNet
linear   f(x) = x                                                      as fine everywhere

    level = N // 2 + round(h f(x)),  h = (N - 1) // 2        x = f^-1((level - N // 2) / h)

So silence is the level N // 2 exactly, x and -x are mirrored, and 1 and -1 come back as they are. Where N is even, no
sample has level 0. (Others round (N - 1) (f + 1) / 2: there silence lies on the border of two levels, and the faintest
noise draws between them.)
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from foresay.errors import UserError

Law = Literal["mu", "linear"]
FEWEST = 3


def levels_of(samples: np.ndarray, number: int, law: Law) -> np.ndarray:
    """The level of each sample; what lies beyond -1 .. 1 becomes the outermost."""
    x = np.clip(np.asarray(samples, np.float64), -1, 1)
    if law == "mu":
        x = np.sign(x) * np.log1p((number - 1) * np.abs(x)) / np.log(number)
    return number // 2 + np.rint(x * _half(number)).astype(np.int64)


def samples_of(levels: np.ndarray, number: int, law: Law) -> np.ndarray:
    """The sample (float32) in the middle of each level."""
    f = np.clip((np.asarray(levels) - number // 2) / _half(number), -1, 1)
    if law == "mu":
        f = np.sign(f) * np.expm1(np.abs(f) * np.log(number)) / (number - 1)
    return f.astype(np.float32)


def _half(number: int) -> int:
    if number < FEWEST:
        raise UserError(f"tokens.number={number} with data.kind=sounds; allowed: {FEWEST} levels or more, such as 256")
    return (number - 1) // 2
