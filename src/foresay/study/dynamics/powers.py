"""What a recurrence makes of a uniform start when nothing more is read: ||h_k|| for chosen eigenvalues (lecture 004).

    h_0 = (1, ..., 1) / sqrt(H),   h_k = g(W h_{k-1})           g: tanh, ReLU, sigmoid, identity

    W = Q diag(lambda) Q^T,   Q orthogonal, by chance           a complex lambda stands for itself and its conjugate

W is normal, so that eigenvalues are all there is to it: ||W^k h_0||^2 = sum_j |lambda_j|^{2k} |q_j . h_0|^2. With
|lambda_1| > 1 it grows as |lambda_1|^k, with < 1 it falls likewise. With lambda_1 = 1 what is left is q_1 (q_1 . h_0),
and how fast all else is forgotten the second eigenvalue says: ||h_k - q_1 (q_1 . h_0)|| falls as |lambda_2|^k.

All in double precision. W (H, H); h (H,).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from foresay.encode.cells.elman import ACTIVATIONS


def with_eigenvalues(eigenvalues: Sequence[complex], seed: int) -> Tensor:
    """A real normal matrix with these eigenvalues; each that is not real brings its conjugate along."""
    blocks = []
    for one in map(complex, eigenvalues):
        turned = [[one.real, -one.imag], [one.imag, one.real]]
        blocks.append(torch.tensor(turned if one.imag else [[one.real]], dtype=torch.float64))
    middle = torch.block_diag(*blocks)
    chance = torch.Generator().manual_seed(seed)
    q = torch.linalg.qr(torch.randn(middle.shape, dtype=torch.float64, generator=chance))[0]
    return q @ middle @ q.T


def uniform_start(width: int) -> Tensor:
    return torch.full((width,), width**-0.5, dtype=torch.float64)


def responses(
    weight: Tensor, steps: int, activation: str = "identity", *, bias: Tensor | float = 0.0, start: Tensor | None = None
) -> Tensor:
    """h_0 ... h_steps (steps + 1, H) from the uniform start, or from one that is given."""
    states, activate = [uniform_start(len(weight)) if start is None else start], ACTIVATIONS[activation]
    for _ in range(steps):
        states.append(activate(weight @ states[-1] + bias))
    return torch.stack(states)


def lasting(weight: Tensor) -> Tensor:
    """What of the uniform start the greatest eigenvalue of a symmetric W keeps: q_1 (q_1 . h_0)."""
    values, vectors = torch.linalg.eigh(weight)
    first = vectors[:, values.abs().argmax()]
    return first * (first @ uniform_start(len(weight)))


def log_slope(norms: Tensor, begin: int = 0) -> float:
    """The slope of log ||h_k|| over k >= begin, by least squares; norms of 0 are left out."""
    kept = norms[begin:]
    k = torch.arange(len(kept), dtype=torch.float64)[kept > 0]
    logs = kept[kept > 0].log()
    if len(k) < 2:
        return -math.inf
    k = k - k.mean()
    return float(k @ (logs - logs.mean()) / (k @ k))
