"""The last operations of a step on a GPU: the distribution over all symbols, the likeliest of them, and what is noted.

    log_softmax:  log P_v = z_v - log sum_u exp z_u        of half precision, in float32
    argmax:       the place of the largest, the lowest of equals, and its value
    note:         a row's text, size and whether it lives, after a symbol was chosen

A row of fifty thousand numbers is too long for one program and too short for many kernels: programs take pieces of it,
a second kernel joins what they found. One by one, torch's kernels for the first two took 32 us of a step's 400.

z (B, V) -> log P (B, V); values (B, V) -> places (B,), values (B,)
"""

from __future__ import annotations

from typing import Any

import torch
import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]
from torch import Tensor

from foresay.kernels.early_triton import after_the_one_before, early_on

PIECE = 1024


@triton.jit
def _sums(z, best, total, width, pieces, piece: tl.constexpr, early: tl.constexpr) -> None:
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    v = part * piece + tl.arange(0, piece)
    after_the_one_before(early)
    x = tl.load(z + row * width + v, mask=v < width, other=-float("inf")).to(tl.float32)
    most = tl.max(x, 0)
    above = tl.maximum(most, -3.0e38)  # of a piece that is -inf as a whole nothing is left
    tl.store(best + row * pieces + part, most)
    tl.store(total + row * pieces + part, tl.sum(tl.exp(x - above), 0))


@triton.jit
def _spread(z, best, total, logs, width, pieces, piece: tl.constexpr, most: tl.constexpr, early: tl.constexpr) -> None:
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    v, p = part * piece + tl.arange(0, piece), tl.arange(0, most)
    after_the_one_before(early)
    highs = tl.load(best + row * pieces + p, mask=p < pieces, other=-float("inf"))
    sums = tl.load(total + row * pieces + p, mask=p < pieces, other=0.0)
    high = tl.max(highs, 0)
    whole = high + tl.log(tl.sum(sums * tl.exp(tl.maximum(highs, -3.0e38) - high), 0))
    x = tl.load(z + row * width + v, mask=v < width, other=0.0).to(tl.float32)
    tl.store(logs + row * width + v, x - whole, mask=v < width)


@triton.jit
def _highest(values, best, places, width, pieces, piece: tl.constexpr, early: tl.constexpr) -> None:
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    v = part * piece + tl.arange(0, piece)
    after_the_one_before(early)
    x = tl.load(values + row * width + v, mask=v < width, other=-float("inf"))
    most, place = tl.max(x, 0, return_indices=True, return_indices_tie_break_left=True)
    tl.store(best + row * pieces + part, most)
    tl.store(places + row * pieces + part, part * piece + place)


@triton.jit
def _first(best, places, chosen, value, pieces, most: tl.constexpr, early: tl.constexpr) -> None:
    row, p = tl.program_id(0).to(tl.int64), tl.arange(0, most)
    after_the_one_before(early)
    x = tl.load(best + row * pieces + p, mask=p < pieces, other=-float("inf"))
    high, part = tl.max(x, 0, return_indices=True, return_indices_tie_break_left=True)
    tl.store(chosen + row, tl.load(places + row * pieces + part).to(tl.int64))
    tl.store(value + row, high)


@triton.jit
def _note(
    chosen, logs, clear, alive, sure, texts, sizes, last, step, vocabulary, width, stop, pad, rows,
    asked: tl.constexpr, block: tl.constexpr, early: tl.constexpr,
) -> None:  # fmt: skip
    b = tl.program_id(0) * block + tl.arange(0, block)
    real = b < rows
    after_the_one_before(early)
    id, lived = tl.load(chosen + b, mask=real, other=0), tl.load(alive + b, mask=real, other=0) != 0
    possible = tl.load(logs + b.to(tl.int64) * vocabulary + id, mask=real, other=0.0) > -float("inf")
    if asked:
        is_clear, was_sure = tl.load(clear + b, mask=real, other=0) != 0, tl.load(sure + b, mask=real, other=0) != 0
        tl.store(sure + b, was_sure & (is_clear | ~lived), mask=real)
    lives = lived & (id != stop) & possible  # where nothing can follow, a text ends too
    size = tl.load(sizes + b, mask=real, other=0)
    place = tl.minimum(size, width - 1)
    tl.store(texts + b.to(tl.int64) * width + place, tl.where(lives, id, pad), mask=real)
    tl.store(alive + b, lives, mask=real)
    tl.store(sizes + b, size + lives.to(tl.int64), mask=real)
    tl.store(last + b, id, mask=real)
    if tl.program_id(0) == 0:
        tl.store(step, tl.load(step) + 1)


def log_softmax(z: Tensor) -> Tensor:
    """Of rows that lie whole."""
    rows, width = z.shape
    pieces = triton.cdiv(width, PIECE)
    best, total = torch.empty(2, rows, pieces, dtype=torch.float32, device=z.device)
    logs = torch.empty(rows, width, dtype=torch.float32, device=z.device)
    first: Any = _sums
    second: Any = _spread
    early = early_on(z.device)
    first[(rows, pieces)](z, best, total, width, pieces, PIECE, num_warps=4, **early)
    most = triton.next_power_of_2(pieces)
    second[(rows, pieces)](z, best, total, logs, width, pieces, PIECE, most, num_warps=4, **early)
    return logs


def argmax(values: Tensor) -> tuple[Tensor, Tensor]:
    """Places and values."""
    rows, width = values.shape
    pieces = triton.cdiv(width, PIECE)
    best = torch.empty(rows, pieces, dtype=values.dtype, device=values.device)
    places = torch.empty(rows, pieces, dtype=torch.int32, device=values.device)
    chosen, value = torch.empty(rows, dtype=torch.long, device=values.device), best.new_empty(rows)
    first: Any = _highest
    second: Any = _first
    early = early_on(values.device)
    first[(rows, pieces)](values, best, places, width, pieces, PIECE, num_warps=4, **early)
    second[(rows,)](best, places, chosen, value, pieces, triton.next_power_of_2(pieces), num_warps=1, **early)
    return chosen, value


def note(
    chosen: Tensor, logs: Tensor, clear: Tensor | None, alive: Tensor, sure: Tensor, texts: Tensor, sizes: Tensor,
    last: Tensor, step: Tensor, stop: int, pad: int,
) -> None:  # fmt: skip
    """Each row's `chosen` goes to its text, and to `last`; rows end with <stop>, or where its log P is -inf. `clear` is
    None where all are."""
    launch: Any = _note
    launch[(triton.cdiv(len(chosen), 64),)](
        chosen, logs, chosen if clear is None else clear, alive, sure, texts, sizes, last, step, logs.shape[1],
        texts.shape[1], stop, pad, len(chosen), clear is not None, 64, num_warps=2, **early_on(chosen.device),
    )  # fmt: skip
