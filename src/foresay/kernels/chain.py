"""A chain of tags in compiled loops: log-likelihood with its gradient, Viterbi, marginals (output/crf.py).

    alpha_t[j] = e_t[j] + log sum_i exp(alpha_{t-1}[i] + A[i, j])
    d log Z / d e_t = P(y_t | x),   d log Z / d A = sum_t P(y_{t-1}, y_t | x)

A row is one loop over its real steps, in float64; rows go to threads, and the gradients of A are added in the same
order for any number of them. On a GPU a row is a program of a Triton kernel (`chain_triton`), up to MOST tags.
Elsewhere, with FORESAY_PLAIN=1, and where a gradient of anything but the log-likelihood is asked for, the plain twin
runs: the CRF's own.

scores (B, T, K) float32, tags (B, T), sizes (B,) -> log P (B,); the best tags (B, T); log P(y_t | x) (B, T, K).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from foresay.kernels.scan import has_triton
from foresay.kernels.switch import plain
from foresay.kernels.threads import in_threads

Chain = tuple[Tensor, Tensor, Tensor]  # A (K, K), b (K), c (K)
TOGETHER = 8  # rows whose gradient of A has one table
MOST = 128  # tags whose A fits a GPU's registers


def runs_here(scores: Tensor, chain: Chain) -> bool:
    """Whether the loops, or on a GPU the kernels, take these scores."""
    return (
        not plain()
        and (scores.device.type == "cpu" or (scores.is_cuda and scores.shape[-1] <= MOST and has_triton()))
        and all(given.dtype == torch.float32 for given in (scores, *chain))
        and scores.numel() > 0
    )


def log_likelihood(scores: Tensor, tags: Tensor, sizes: Tensor, chain: Chain) -> Tensor:
    """log P(tags | x) of each row, (B,); 0 for an empty one."""
    if scores.is_cuda:
        from foresay.kernels import chain_triton  # there is no Triton without a GPU

        return chain_triton.log_likelihood(scores, tags, sizes, chain)
    return _LogLikelihood.apply(scores, *chain, tags, sizes)  # pyright: ignore[reportReturnType]


def best(scores: Tensor, sizes: Tensor, chain: Chain) -> Tensor:
    """The most probable tags, (B, T); 0 where masked."""
    if scores.is_cuda:
        from foresay.kernels import chain_triton  # there is no Triton without a GPU

        return chain_triton.best(scores, sizes, chain)
    from foresay.kernels import chain_loops as loops  # numba takes a second to import

    found = torch.zeros(scores.shape[:2], dtype=torch.long)
    given = (*_arrays(scores, *chain), sizes.numpy(), found.numpy())
    in_threads(loops.best, given, len(scores), torch.get_num_threads(), few=16)
    return found


def marginals(scores: Tensor, sizes: Tensor, chain: Chain) -> Tensor:
    """log P(y_t | x) of all tags, (B, T, K); 0 where masked."""
    if scores.is_cuda:
        from foresay.kernels import chain_triton

        return chain_triton.marginals(scores, sizes, chain)
    from foresay.kernels import chain_loops as loops

    found = torch.zeros(scores.shape)
    given = (*_arrays(scores, *chain), sizes.numpy(), found.numpy())
    in_threads(loops.marginals, given, len(scores), torch.get_num_threads(), few=16)
    return found


def _arrays(*given: Tensor) -> tuple[np.ndarray, ...]:
    return tuple(one.detach().contiguous().numpy() for one in given)


class _LogLikelihood(torch.autograd.Function):
    """On a CPU: forwards keeps alpha, (B, T, K) in float64; backwards runs beta over it."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, a: Tensor, b: Tensor, c: Tensor, tags: Tensor, sizes: Tensor) -> Tensor:
        from foresay.kernels import chain_loops as loops

        given = (*_arrays(scores, a, b, c), tags.contiguous().numpy(), sizes.numpy())
        alpha, whole = np.empty(scores.shape), np.zeros(len(scores))
        found = torch.zeros(len(scores))
        in_threads(loops.score, (*given, alpha, whole, found.numpy()), len(scores), torch.get_num_threads(), few=16)
        ctx.kept = (given, alpha, whole)
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        from foresay.kernels import chain_loops as loops

        given, alpha, whole = ctx.kept
        scores, kinds = given[0], given[0].shape[2]
        tables = -(-len(scores) // TOGETHER)
        d_scores = np.zeros(scores.shape, np.float32)
        d_a, d_b, d_c = np.zeros((tables, kinds, kinds)), np.zeros((tables, kinds)), np.zeros((tables, kinds))
        (weights,) = _arrays(grads[0].float())
        call = (*given, alpha, whole, weights, TOGETHER, d_scores, d_a, d_b, d_c)
        in_threads(loops.score_backwards, call, tables, torch.get_num_threads(), few=2)
        summed = (torch.from_numpy(one.sum(0).astype(np.float32)) for one in (d_a, d_b, d_c))
        return torch.from_numpy(d_scores), *summed, None, None
