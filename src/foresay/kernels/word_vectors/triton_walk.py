"""The walk over a text on a GPU: every program takes each n-th place, the same windows and the same draws as window.py.

Inwards, against drawn words. A program reads the rows as they are and adds to them; nothing waits, so what it adds was
computed without what the others, as many as there are programs, were adding. Tables are (rows, D), D a multiple of 64.
"""

from __future__ import annotations

import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]


@triton.jit
def hashed(x):
    x = x ^ (x >> 16)
    x = x * 0x21F0AAAD
    x = x ^ (x >> 15)
    x = x * 0x735A2D97
    return x ^ (x >> 15)


@triton.jit
def number(key, n):
    return hashed(key + n.to(tl.uint32) * 0x1E3779B9)


@triton.jit
def walk_places(
    words,
    begins,
    ends,
    keys,
    rates,
    inputs,
    outputs,
    limits,
    others,
    losses,
    predictions,
    low,
    high,
    programs,
    size,
    before: tl.constexpr,
    after: tl.constexpr,
    dynamic: tl.constexpr,
    averaged: tl.constexpr,
    negatives: tl.constexpr,
    D: tl.constexpr,
    NEAR: tl.constexpr,
    TARGETS: tl.constexpr,
    PART: tl.constexpr,
):
    for at in range(low + tl.program_id(0), high, programs):
        key = tl.load(keys + at).to(tl.uint32)
        rate = tl.load(rates + at)
        left, right = before, after
        if dynamic:
            drawn = hashed(key).to(tl.uint64)
            left = tl.minimum(before, 1 + ((drawn * before) >> 32).to(tl.int32))
            right = tl.minimum(after, 1 + ((drawn * after) >> 32).to(tl.int32))
        j = tl.arange(0, NEAR)
        place = at - before + j + tl.where(j >= before, 1, 0)
        near = (place >= tl.maximum(at - left, tl.load(begins + at))) & (
            place < tl.minimum(at + right + 1, tl.load(ends + at))
        )
        near = near & (j < before + after)
        count = tl.sum(near.to(tl.int32), 0)
        contexts = tl.load(words + place, mask=near, other=0).to(tl.int64)
        word = tl.load(words + at).to(tl.int64)
        k = tl.arange(0, TARGETS)
        n = (64 + k - 1) * 2
        first = ((number(key, n).to(tl.uint64) * size) >> 32).to(tl.int64)
        kept = number(key, n + 1).to(tl.int64) < tl.load(limits + first)
        rows = tl.where(kept, first, tl.load(others + first))
        rows = tl.where(k == 0, word, rows)
        y = tl.where(k == 0, 1.0, tl.where((rows == word) | (k > negatives), 0.0, -1.0))
        if averaged == 1:
            part = 1.0 / tl.maximum(count, 1).to(tl.float32)
        else:
            part = 1.0 / (left + right).to(tl.float32) if dynamic else 1.0 / (before + after)
        if averaged:
            flat = tl.zeros((TARGETS,), tl.float32)
            for d in tl.static_range(0, D, PART):
                column = d + tl.arange(0, PART)
                x = tl.load(inputs + contexts[:, None] * D + column[None], mask=near[:, None], other=0.0)
                u = tl.load(outputs + rows[:, None] * D + column[None])
                flat += tl.sum(u * (tl.sum(x, 0) * part)[None], 1)
            q = tl.sigmoid(y * flat)
            g = rate * y * (1.0 - q)
            loss = -tl.sum(tl.where(y == 0.0, 0.0, tl.log(tl.maximum(q, 1e-30))), 0)
            tl.store(losses + at, tl.where(count > 0, loss, 0.0))
            tl.store(predictions + at, tl.where(count > 0, 1, 0))
            for d in tl.static_range(0, D, PART):
                column = d + tl.arange(0, PART)
                x = tl.load(inputs + contexts[:, None] * D + column[None], mask=near[:, None], other=0.0)
                u = tl.load(outputs + rows[:, None] * D + column[None])
                h = tl.sum(x, 0) * part
                dh = tl.sum(u * g[:, None], 0)
                some = (y != 0.0)[:, None] & (count > 0)
                tl.atomic_add(
                    outputs + rows[:, None] * D + column[None], g[:, None] * h[None], mask=some, sem="relaxed"
                )
                every = tl.broadcast_to(dh[None], (NEAR, PART))
                tl.atomic_add(inputs + contexts[:, None] * D + column[None], every, mask=near[:, None], sem="relaxed")
        else:
            scores = tl.zeros((NEAR, TARGETS), tl.float32)
            for d in tl.static_range(0, D, PART):
                column = d + tl.arange(0, PART)
                x = tl.load(inputs + contexts[:, None] * D + column[None], mask=near[:, None], other=0.0)
                u = tl.load(outputs + rows[:, None] * D + column[None])
                scores += tl.dot(x, tl.trans(u), input_precision="tf32")
            q = tl.sigmoid(y[None] * scores)
            real = near[:, None] & (y != 0.0)[None]
            g = tl.where(real, rate * y[None] * (1.0 - q), 0.0)
            loss = -tl.sum(tl.sum(tl.where(real, tl.log(tl.maximum(q, 1e-30)), 0.0), 1), 0)
            tl.store(losses + at, loss)
            tl.store(predictions + at, count)
            for d in tl.static_range(0, D, PART):
                column = d + tl.arange(0, PART)
                x = tl.load(inputs + contexts[:, None] * D + column[None], mask=near[:, None], other=0.0)
                u = tl.load(outputs + rows[:, None] * D + column[None])
                dx = tl.dot(g, u, input_precision="tf32")
                du = tl.dot(tl.trans(g), x, input_precision="tf32")
                some = (y != 0.0)[:, None] & (count > 0)
                tl.atomic_add(inputs + contexts[:, None] * D + column[None], dx, mask=near[:, None], sem="relaxed")
                tl.atomic_add(outputs + rows[:, None] * D + column[None], du, mask=some, sem="relaxed")
