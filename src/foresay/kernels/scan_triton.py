"""The scan over time on a GPU: a program owns BLOCK numbers of a step and reads CHUNK steps at a time.

A chunk's steps are joined by Triton's associative scan, (a, b) then (c, d) being (a c, b c + d), so that all its loads
are under way together; between chunks the state stays in registers. Every number is read once and written once.

a, b (T, N), history (T + 1, N), real or complex (pairs of real numbers side by side).
"""

from __future__ import annotations

from typing import Any

import torch
import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]
from torch import Tensor

BLOCK, CHUNK = 64, 16


def sweep_on_gpu(a: Tensor, b: Tensor, history: Tensor, reverse: bool) -> None:
    """Fills history from its first entry on, or in reverse from its last one; b and history lie side by side."""
    from foresay.kernels.scan import as_laid

    width = b[0].numel()
    laid = as_laid(a)
    if laid.shape == a.shape:
        laid, step, period = a.contiguous(), width, width
    elif laid.numel() == laid.shape[-1]:  # the same in all steps and rows
        laid, step, period = laid.contiguous(), 0, laid.shape[-1]
    else:
        laid, step, period = a.contiguous(), width, width
    kernel: Any = _complex if b.is_complex() else _real
    numbers = [torch.view_as_real(t) if t.is_complex() else t for t in (laid, b, history)]
    kernel[(triton.cdiv(width, BLOCK),)](
        *numbers, len(b), width, step, period, REVERSE=reverse, CHUNK=CHUNK, BLOCK=BLOCK, num_warps=4
    )


@triton.jit
def _join(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def _join_complex(ar, ai, br, bi, cr, ci, dr, di):
    return ar * cr - ai * ci, ar * ci + ai * cr, br * cr - bi * ci + dr, br * ci + bi * cr + di


@triton.jit(do_not_specialize=["steps"])  # 1 would be no tensor
def _real(
    a, b, history, steps, width, a_step, a_period, REVERSE: tl.constexpr, CHUNK: tl.constexpr, BLOCK: tl.constexpr
):
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = columns < width
    rows = tl.arange(0, CHUNK)
    last = (rows == CHUNK - 1)[:, None]
    begin = steps.to(tl.int64) * width if REVERSE else 0
    h = tl.load(history + begin + columns, inside, 0)
    for first in range(0, steps, CHUNK):
        n = first + rows
        t = (steps - 1 - n if REVERSE else n).to(tl.int64)[:, None]
        real = (n < steps)[:, None] & inside[None, :]
        keep = tl.load(a + t * a_step + (columns % a_period)[None, :], real, 1)
        add = tl.load(b + t * width + columns[None, :], real, 0)
        keep, add = tl.associative_scan((keep, add), 0, _join)
        new = keep * h[None, :] + add
        place = t if REVERSE else t + 1
        tl.store(history + place * width + columns[None, :], new, real)
        h = tl.sum(tl.where(last, new, 0), 0)


@triton.jit(do_not_specialize=["steps"])  # 1 would be no tensor
def _complex(
    a, b, history, steps, width, a_step, a_period, REVERSE: tl.constexpr, CHUNK: tl.constexpr, BLOCK: tl.constexpr
):
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = columns < width
    rows = tl.arange(0, CHUNK)
    last = (rows == CHUNK - 1)[:, None]
    begin = steps.to(tl.int64) * width if REVERSE else 0
    hr = tl.load(history + 2 * (begin + columns), inside, 0)
    hi = tl.load(history + 2 * (begin + columns) + 1, inside, 0)
    for first in range(0, steps, CHUNK):
        n = first + rows
        t = (steps - 1 - n if REVERSE else n).to(tl.int64)[:, None]
        real = (n < steps)[:, None] & inside[None, :]
        keep = a + 2 * (t * a_step + (columns % a_period)[None, :])
        add = b + 2 * (t * width + columns[None, :])
        ar, ai = tl.load(keep, real, 1), tl.load(keep + 1, real, 0)
        br, bi = tl.load(add, real, 0), tl.load(add + 1, real, 0)
        ar, ai, br, bi = tl.associative_scan((ar, ai, br, bi), 0, _join_complex)
        new_r = ar * hr[None, :] - ai * hi[None, :] + br
        new_i = ar * hi[None, :] + ai * hr[None, :] + bi
        out = history + 2 * ((t if REVERSE else t + 1) * width + columns[None, :])
        tl.store(out, new_r, real)
        tl.store(out + 1, new_i, real)
        hr = tl.sum(tl.where(last, new_r, 0), 0)
        hi = tl.sum(tl.where(last, new_i, 0), 0)
