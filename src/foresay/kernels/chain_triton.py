"""A chain of tags on a GPU: log-likelihood with its gradient, Viterbi, marginals. As chain.py, a program for each row.

    alpha_t[j]    = e_t[j] + log sum_i exp(alpha_{t-1}[i] + A[i, j])
    beta_{t-1}[i] = log sum_j w[i, j],   w[i, j] = exp(A[i, j] + e_t[j] + beta_t[j])
    P(y_t | x)    = softmax(alpha_t + beta_t),   P(i, j | x) = P(y_{t-1} = i | x) w[i, j] / sum_j w[i, j]

A program loops over its row's real steps, with A in registers, and asks for a step's numbers one step ahead. alpha and
beta are float64, their greatest way is taken off each sum, and what is left, at most 0, is raised in float32: so sums
lie between 1 and K, whatever the scores, and errors do not grow with T. P is made to sum to 1 at each step, so what
alpha and beta have gathered on their way cancels. Tags beyond K, up to a power of two, have e = -inf: no way leads
there.

scores (B, T, K) float32, tags (B, T), sizes (B,) -> log P (B,); the best tags (B, T); log P(y_t | x) (B, T, K).
"""

from __future__ import annotations

from typing import Any

import torch
import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]
from torch import Tensor
from torch.autograd.function import once_differentiable

from foresay.kernels.chain import Chain

SOME = 128  # steps whose given tags are scored together
TABLES = 1024  # of gradients of A; with more rows than that a program takes several
LEAST: tl.constexpr = tl.constexpr(-3.0e38)  # in place of -inf, where no way is possible


@triton.jit
def _numbers(at, k, kinds: tl.constexpr, there):
    """K numbers as float64, -inf beyond K and where there are none."""
    return tl.load(at + k, mask=(k < kinds) & there, other=-float("inf")).to(tl.float64)


@triton.jit
def _moves(a, k, kinds: tl.constexpr):
    inside = (k < kinds)[:, None] & (k < kinds)[None, :]
    return tl.load(a + k[:, None] * kinds + k[None, :], mask=inside, other=0.0).to(tl.float64)


@triton.jit
def _forth(alpha, moves):
    """log sum_i exp(alpha[i] + A[i, j])."""
    ways = alpha[:, None] + moves
    most = tl.maximum(tl.max(ways, 0), LEAST)
    total = tl.sum(tl.exp((ways - most[None, :]).to(tl.float32)), 0)
    return most + tl.log(tl.maximum(total, 1.0))  # the greatest alone is 1


@triton.jit
def _back(ahead, moves):
    """log sum_j exp(A[i, j] + ahead[j]); the terms w[i, j] by their greatest, and the sums of those."""
    ways = moves + ahead[None, :]
    most = tl.maximum(tl.max(ways, 1), LEAST)
    shares = tl.exp((ways - most[:, None]).to(tl.float32))
    total = tl.maximum(tl.sum(shares, 1), 1.0)
    return most + tl.log(total), shares, total


@triton.jit
def _log_sum(values):
    most = tl.maximum(tl.max(values, 0), LEAST)
    return most + tl.log(tl.maximum(tl.sum(tl.exp((values - most).to(tl.float32)), 0), 1.0))


@triton.jit
def _softmax(values):
    shares = tl.exp((values - tl.maximum(tl.max(values, 0), LEAST)).to(tl.float32))
    return shares / tl.maximum(tl.sum(shares, 0), 1.0)


@triton.jit
def _of_tags(scores, a, b, c, tags, size, kinds: tl.constexpr, some: tl.constexpr):
    """s(x, y) of a row, as float64."""
    there = size > 0
    first = tl.load(tags, mask=there, other=0)
    last = tl.load(tags + tl.maximum(size - 1, 0), mask=there, other=0)
    found = tl.load(b + first).to(tl.float64) + tl.load(c + last).to(tl.float64)
    for begin in range(0, size, some):
        t = begin + tl.arange(0, some)
        real = t < size
        moved = real & (t > 0)
        tag = tl.load(tags + t, mask=real, other=0)
        before = tl.load(tags + t - 1, mask=moved, other=0)
        own = tl.load(scores + t * kinds + tag, mask=real, other=0.0).to(tl.float64)
        found += tl.sum(own + tl.load(a + before * kinds + tag, mask=moved, other=0.0).to(tl.float64), 0)
    return found


@triton.jit(do_not_specialize=["steps"])  # 1 would be no tensor, and every T another kernel to compile
def _forwards(
    scores, a, b, c, tags, sizes, alphas, found, steps, kinds: tl.constexpr, block: tl.constexpr, some: tl.constexpr
) -> None:
    """alpha of each step, and log P of the tags where they are given."""
    row = tl.program_id(0).to(tl.int64)
    size = tl.load(sizes + row).to(tl.int32)
    k = tl.arange(0, block)
    moves = _moves(a, k, kinds)
    scores += row * steps * kinds
    alphas += row * steps * kinds
    alpha = _numbers(b, k, kinds, True) + _numbers(scores, k, kinds, size > 0)
    tl.store(alphas + k, alpha, mask=k < kinds)
    e = _numbers(scores + kinds, k, kinds, size > 1)
    for t in range(1, size):
        following = _numbers(scores + (t + 1) * kinds, k, kinds, t + 1 < size)
        alpha = e + _forth(alpha, moves)
        tl.store(alphas + t * kinds + k, alpha, mask=k < kinds)
        e = following
    if tags is not None:
        whole = _log_sum(alpha + _numbers(c, k, kinds, True))
        total = _of_tags(scores, a, b, c, tags + row * steps, size, kinds, some)
        tl.store(found + row, tl.where(size > 0, total - whole, 0.0))


@triton.jit(do_not_specialize=["rows", "steps"])
def _backwards(
    scores, a, c, tags, sizes, alphas, weights, d_scores, d_chain, rows, steps, kinds: tl.constexpr,
    block: tl.constexpr,
) -> None:  # fmt: skip
    """1 where the tags are, less what is expected there, by the weight; d_chain is a table (K + 2, K): A, b, c."""
    k = tl.arange(0, block)
    inside = k < kinds
    moves = _moves(a, k, kinds)
    d_moves = tl.zeros((block, block), tl.float32)
    d_b, d_c = tl.zeros((block,), tl.float32), tl.zeros((block,), tl.float32)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        size = tl.load(sizes + row).to(tl.int32)
        there, last = size > 0, tl.maximum(size - 1, 0)
        weight = tl.load(weights + row, mask=there, other=0.0)
        begin = row * steps.to(tl.int64)
        e_at, alpha_at, tag_at = scores + begin * kinds, alphas + begin * kinds, tags + begin
        d_at = d_scores + begin * kinds
        beta = _numbers(c, k, kinds, True)
        tag = tl.load(tag_at + last, mask=there, other=0)
        p = _softmax(_numbers(alpha_at + last * kinds, k, kinds, there) + beta)
        d = weight * (tl.where(k == tag, 1.0, 0.0) - p)
        tl.store(d_at + last * kinds + k, d, mask=inside & there)
        d_c += d
        e = _numbers(e_at + last * kinds, k, kinds, there)
        alpha = _numbers(alpha_at + (last - 1) * kinds, k, kinds, last > 0)
        before = tl.load(tag_at + last - 1, mask=last > 0, other=0)
        for done in range(1, size):
            t = last - done  # from t + 1 to t
            next_e = _numbers(e_at + t * kinds, k, kinds, True)
            next_alpha = _numbers(alpha_at + (t - 1) * kinds, k, kinds, t > 0)
            next_before = tl.load(tag_at + t - 1, mask=t > 0, other=0)
            beta, shares, total = _back(e + beta, moves)
            p = _softmax(alpha + beta)
            pair = (p / total)[:, None] * shares
            hit = (k == before)[:, None] & (k == tag)[None, :]
            d_moves += weight * (tl.where(hit, 1.0, 0.0) - pair)
            d = weight * (tl.where(k == before, 1.0, 0.0) - p)
            tl.store(d_at + t * kinds + k, d, mask=inside)
            tag, before, e, alpha = before, next_before, next_e, next_alpha
        d_b += d
    d_chain += tl.program_id(0).to(tl.int64) * (kinds + 2) * kinds
    tl.store(d_chain + k[:, None] * kinds + k[None, :], d_moves, mask=inside[:, None] & inside[None, :])
    tl.store(d_chain + kinds * kinds + k, d_b, mask=inside)
    tl.store(d_chain + (kinds + 1) * kinds + k, d_c, mask=inside)


@triton.jit(do_not_specialize=["steps"])
def _marginals(scores, a, c, sizes, alphas, found, steps, kinds: tl.constexpr, block: tl.constexpr) -> None:
    row = tl.program_id(0).to(tl.int64)
    size = tl.load(sizes + row).to(tl.int32)
    k = tl.arange(0, block)
    moves = _moves(a, k, kinds)
    scores += row * steps * kinds
    alphas += row * steps * kinds
    found += row * steps * kinds
    last = tl.maximum(size - 1, 0)
    beta = _numbers(c, k, kinds, True)
    e = _numbers(scores + last * kinds, k, kinds, size > 0)
    alpha = _numbers(alphas + last * kinds, k, kinds, size > 0)
    for done in range(0, size):
        t = last - done
        next_e = _numbers(scores + (t - 1) * kinds, k, kinds, t > 0)
        next_alpha = _numbers(alphas + (t - 1) * kinds, k, kinds, t > 0)
        both = alpha + beta
        tl.store(found + t * kinds + k, both - _log_sum(both), mask=k < kinds)
        beta, _, _ = _back(e + beta, moves)
        e, alpha = next_e, next_alpha


@triton.jit(do_not_specialize=["steps"])
def _best(scores, a, b, c, sizes, came, found, steps, kinds: tl.constexpr, block: tl.constexpr) -> None:
    """Of equals the first."""
    row = tl.program_id(0).to(tl.int64)
    size = tl.load(sizes + row).to(tl.int32)
    k = tl.arange(0, block)
    moves = _moves(a, k, kinds)
    scores += row * steps * kinds
    came += row * steps * kinds
    found += row * steps
    reached = _numbers(b, k, kinds, True) + _numbers(scores, k, kinds, size > 0)
    e = _numbers(scores + kinds, k, kinds, size > 1)
    for t in range(1, size):
        following = _numbers(scores + (t + 1) * kinds, k, kinds, t + 1 < size)
        ways = reached[:, None] + moves
        most, where = tl.max(ways, 0, return_indices=True, return_indices_tie_break_left=True)
        tl.store(came + t * kinds + k, where.to(tl.uint8), mask=k < kinds)
        reached = e + most
        e = following
    ends = reached + _numbers(c, k, kinds, True)
    _, tag = tl.max(ends, 0, return_indices=True, return_indices_tie_break_left=True)
    tl.debug_barrier()  # other threads of the program have written what is read now
    for done in range(1, size):
        t = size - done
        tl.store(found + t, tag.to(tl.int64))
        tag = tl.load(came + t * kinds + tag).to(tl.int32)
    tl.store(found, tag.to(tl.int64), mask=size > 0)


def log_likelihood(scores: Tensor, tags: Tensor, sizes: Tensor, chain: Chain) -> Tensor:
    """log P(tags | x) of each row, (B,); 0 for an empty one."""
    return _LogLikelihood.apply(scores, *chain, tags, sizes)  # pyright: ignore[reportReturnType]


def best(scores: Tensor, sizes: Tensor, chain: Chain) -> Tensor:
    """The most probable tags, (B, T); 0 where masked."""
    scores, a, b, c = _whole(scores, *chain)
    came = torch.empty(scores.shape, dtype=torch.uint8, device=scores.device)
    found = torch.zeros(scores.shape[:2], dtype=torch.long, device=scores.device)
    launch: Any = _best
    launch[(len(scores),)](scores, a, b, c, sizes, came, found, scores.shape[1], **_cut(scores))
    return found


def marginals(scores: Tensor, sizes: Tensor, chain: Chain) -> Tensor:
    """log P(y_t | x) of all tags, (B, T, K); 0 where masked."""
    scores, a, b, c = _whole(scores, *chain)
    alphas, found = torch.empty_like(scores, dtype=torch.float64), torch.zeros_like(scores)
    forwards: Any = _forwards
    backwards: Any = _marginals
    steps, cut = scores.shape[1], _cut(scores)
    forwards[(len(scores),)](scores, a, b, c, None, sizes, alphas, None, steps, some=SOME, **cut)
    backwards[(len(scores),)](scores, a, c, sizes, alphas, found, steps, **cut)
    return found


class _LogLikelihood(torch.autograd.Function):
    """Forwards keeps alpha, (B, T, K) in float64; backwards runs beta over it."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, a: Tensor, b: Tensor, c: Tensor, tags: Tensor, sizes: Tensor) -> Tensor:
        scores, a, b, c, tags = _whole(scores, a, b, c, tags)
        alphas = torch.empty_like(scores, dtype=torch.float64)
        found = scores.new_empty(len(scores))
        launch: Any = _forwards
        launch[(len(scores),)](
            scores, a, b, c, tags, sizes, alphas, found, scores.shape[1], some=SOME, **_cut(scores)
        )  # fmt: skip
        ctx.save_for_backward(scores, a, c, tags, sizes, alphas)
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        scores, a, c, tags, sizes, alphas = ctx.saved_tensors
        rows, steps, kinds = scores.shape
        tables = min(rows, TABLES)
        d_scores, d_chain = torch.zeros_like(scores), scores.new_empty(tables, kinds + 2, kinds)
        launch: Any = _backwards
        launch[(tables,)](
            scores, a, c, tags, sizes, alphas, grads[0].contiguous(), d_scores, d_chain, rows, steps, **_cut(scores)
        )  # fmt: skip
        summed = d_chain.sum(0)  # no program adds to another's: the same at each run
        return d_scores, summed[:kinds], summed[kinds], summed[kinds + 1], None, None


def _whole(*given: Tensor) -> tuple[Tensor, ...]:
    return tuple(one.detach().contiguous() for one in given)


def _cut(scores: Tensor) -> dict[str, int]:
    """K, the power of two above it, and threads enough that each has 16 numbers of A, or 32 of the largest."""
    kinds = scores.shape[2]
    block = max(triton.next_power_of_2(kinds), 8)
    return {"kinds": kinds, "block": block, "num_warps": min(max(block * block // 512, 1), 16)}
