"""The walk over a text on a GPU: every program takes each n-th place, the same windows and the same draws as window.py.

Inwards, against drawn words. A program reads the rows as they are and adds to them; nothing waits, so what it adds was
computed without what the others, as many as there are programs, were adding. Tables are (rows, D), D a multiple of
PART. NEAR and TARGETS are the widths of the window and of the targets, rounded up to powers of 2.
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
def look_around(
    at, key, words, begins, ends, before: tl.constexpr, after: tl.constexpr, dynamic: tl.constexpr, NEAR: tl.constexpr
):
    """The words near a place, which of them are real, and how many places the window has."""
    left, right = before, after
    if dynamic:
        drawn = hashed(key).to(tl.uint64)
        left = tl.minimum(before, 1 + ((drawn * before) >> 32).to(tl.int32))
        right = tl.minimum(after, 1 + ((drawn * after) >> 32).to(tl.int32))
    j = tl.arange(0, NEAR)
    place = at - before + j + tl.where(j >= before, 1, 0)
    low, high = tl.maximum(at - left, tl.load(begins + at)), tl.minimum(at + right + 1, tl.load(ends + at))
    real = (place >= low) & (place < high) & (j < before + after)
    return tl.load(words + place, mask=real, other=0).to(tl.int64), real, left + right


@triton.jit
def aim(word, key, limits, others, size, negatives: tl.constexpr, TARGETS: tl.constexpr):
    """The rows of a word and of those drawn, and y of each."""
    k = tl.arange(0, TARGETS)
    n = (64 + k - 1) * 2
    first = ((number(key, n).to(tl.uint64) * size) >> 32).to(tl.int64)
    kept = number(key, n + 1).to(tl.int64) < tl.load(limits + first)
    rows = tl.where(k == 0, word, tl.where(kept, first, tl.load(others + first)))
    y = tl.where(k == 0, 1.0, tl.where((rows == word) | (k > negatives), 0.0, -1.0))
    return rows, y


@triton.jit
def learn_each(
    inputs,
    outputs,
    near,
    real,
    rows,
    y,
    rate,
    D: tl.constexpr,
    NEAR: tl.constexpr,
    TARGETS: tl.constexpr,
    PART: tl.constexpr,
):
    """Each word near against all targets: the loss."""
    scores = tl.zeros((NEAR, TARGETS), tl.float32)
    for d in tl.static_range(0, D, PART):
        column = d + tl.arange(0, PART)
        x = tl.load(inputs + near[:, None] * D + column[None], mask=real[:, None], other=0.0)
        u = tl.load(outputs + rows[:, None] * D + column[None])
        scores += tl.dot(x, tl.trans(u), input_precision="tf32")
    q = tl.sigmoid(y[None] * scores)
    pairs = real[:, None] & (y != 0.0)[None]
    g = tl.where(pairs, rate * y[None] * (1.0 - q), 0.0)
    some = (y != 0.0)[:, None] & (tl.sum(real.to(tl.int32), 0) > 0)
    for d in tl.static_range(0, D, PART):
        column = d + tl.arange(0, PART)
        x = tl.load(inputs + near[:, None] * D + column[None], mask=real[:, None], other=0.0)
        u = tl.load(outputs + rows[:, None] * D + column[None])
        dx = tl.dot(g, u, input_precision="tf32")
        du = tl.dot(tl.trans(g), x, input_precision="tf32")
        tl.atomic_add(inputs + near[:, None] * D + column[None], dx, mask=real[:, None], sem="relaxed")
        tl.atomic_add(outputs + rows[:, None] * D + column[None], du, mask=some, sem="relaxed")
    return -tl.sum(tl.sum(tl.where(pairs, tl.log(tl.maximum(q, 1e-30)), 0.0), 1), 0)


@triton.jit
def learn_mean(
    inputs,
    outputs,
    near,
    real,
    rows,
    y,
    rate,
    part,
    D: tl.constexpr,
    NEAR: tl.constexpr,
    TARGETS: tl.constexpr,
    PART: tl.constexpr,
):
    """The words near, added up and times `part`, against all targets: the loss; each takes the whole step."""
    scores = tl.zeros((TARGETS,), tl.float32)
    for d in tl.static_range(0, D, PART):
        column = d + tl.arange(0, PART)
        x = tl.load(inputs + near[:, None] * D + column[None], mask=real[:, None], other=0.0)
        u = tl.load(outputs + rows[:, None] * D + column[None])
        scores += tl.sum(u * (tl.sum(x, 0) * part)[None], 1)
    q = tl.sigmoid(y * scores)
    g = rate * y * (1.0 - q)
    there = tl.sum(real.to(tl.int32), 0) > 0
    some = (y != 0.0)[:, None] & there
    for d in tl.static_range(0, D, PART):
        column = d + tl.arange(0, PART)
        x = tl.load(inputs + near[:, None] * D + column[None], mask=real[:, None], other=0.0)
        u = tl.load(outputs + rows[:, None] * D + column[None])
        du = g[:, None] * (tl.sum(x, 0) * part)[None]
        dh = tl.broadcast_to(tl.sum(u * g[:, None], 0)[None], (NEAR, PART))
        tl.atomic_add(outputs + rows[:, None] * D + column[None], du, mask=some, sem="relaxed")
        tl.atomic_add(inputs + near[:, None] * D + column[None], dh, mask=real[:, None], sem="relaxed")
    return tl.where(there, -tl.sum(tl.where(y == 0.0, 0.0, tl.log(tl.maximum(q, 1e-30))), 0), 0.0)


@triton.jit
def walk_places(
    words, begins, ends, keys, rates, inputs, outputs, limits, others, losses, predictions, low, high, programs, size,
    before: tl.constexpr, after: tl.constexpr, dynamic: tl.constexpr, averaged: tl.constexpr, negatives: tl.constexpr,
    D: tl.constexpr, NEAR: tl.constexpr, TARGETS: tl.constexpr, PART: tl.constexpr,
):  # fmt: skip
    for at in range(low + tl.program_id(0), high, programs):
        key, rate = tl.load(keys + at).to(tl.uint32), tl.load(rates + at)
        near, real, window = look_around(at, key, words, begins, ends, before, after, dynamic, NEAR)
        rows, y = aim(tl.load(words + at).to(tl.int64), key, limits, others, size, negatives, TARGETS)
        count = tl.sum(real.to(tl.int32), 0)
        if averaged == 0:
            loss = learn_each(inputs, outputs, near, real, rows, y, rate, D, NEAR, TARGETS, PART)
            tl.store(predictions + at, count)
        else:
            part = 1.0 / (tl.maximum(count, 1) if averaged == 1 else window)
            loss = learn_mean(inputs, outputs, near, real, rows, y, rate, part, D, NEAR, TARGETS, PART)
            tl.store(predictions + at, tl.minimum(count, 1))
        tl.store(losses + at, loss)
