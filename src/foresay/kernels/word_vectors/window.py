"""Which inputs and targets a place in a text has.

A place i of a text of kept words sees those up to `before` and `after` words away, in its document; a dynamic window is
drawn from 1 to that many. Inwards every word near is an input and word i the target; outwards word i is the input and
every word near a target. A target is set against `negatives` words drawn from the noise, the same for all inputs; or,
with a tree, it is its way from the root: one target for each inner node.
"""

from __future__ import annotations

import numpy as np

from foresay.kernels.word_vectors.chance import ALL, draw, hashed, number
from foresay.kernels.word_vectors.compiled import inner, loop
from foresay.kernels.word_vectors.plan import Noise, Plan, Targets, Text, Ways

SUBSET, DRAWN = 16, 64  # the numbers of a key: 0 for the window, then for the subset, then for the noise


@loop
def keep_words(ids: np.ndarray, shares: np.ndarray, stop: int, key: int, text: Text) -> int:
    """Keeps every word with its share as probability; how many were kept."""
    size, begin = 0, 0
    for at in range(len(ids)):
        word = ids[at]
        if word == stop:
            text.ends[begin:size] = size
            begin = size
        elif number(key, at) < shares[word]:
            text.words[size], text.begins[size] = word, begin
            size += 1
    text.ends[begin:size] = size
    return size


@inner
def key_of(key: int, at: int) -> int:
    return hashed(key ^ hashed(at))


@inner
def reach(plan: Plan, key: int) -> tuple[int, int]:
    """How many places before and after a window has."""
    if not plan.dynamic:
        return plan.before, plan.after
    drawn = number(key, 0)
    return min(plan.before, 1 + (drawn * plan.before >> 32)), min(plan.after, 1 + (drawn * plan.after >> 32))


@inner
def look_around(text: Text, plan: Plan, at: int, key: int, near: np.ndarray) -> int:
    """Fills in the places near one; how many there are."""
    before, after = reach(plan, key)
    size = 0
    for place in range(max(at - before, text.begins[at]), min(at + after + 1, text.ends[at])):
        if place != at:
            near[size] = place
            size += 1
    if 0 < plan.subset < size:
        for chosen in range(plan.subset):
            other = chosen + (number(key, SUBSET + chosen) * (size - chosen) >> 32)
            near[chosen], near[other] = near[other], near[chosen]
        size = plan.subset
    return size


@inner
def predictors(text: Text, plan: Plan, at: int, key: int, near: np.ndarray, begin: int) -> tuple[int, int]:
    """Fills in the places of inputs, counted from `begin`; how many, and how many predictions they make."""
    count = look_around(text, plan, at, key, near)
    predictions = min(count, 1) if plan.averaged else count
    if plan.outward and count:
        near[0], count = at, 1
    for j in range(count):
        near[j] -= begin
    return count, predictions


@inner
def aim(plan: Plan, noise: Noise, ways: Ways, word: int, key: int, drawn: int, targets: Targets, at: int) -> int:
    """Writes a word and what it is set against from place `at` on; where that ends."""
    if len(ways.first):
        for step in range(ways.first[word], ways.first[word + 1]):
            targets.rows[at], targets.signs[at] = ways.nodes[step], ways.signs[step]
            at += 1
        return at
    targets.rows[at], targets.signs[at] = word, 1.0
    for n in range(plan.negatives):
        other = draw(noise, key, DRAWN + drawn + n)
        targets.rows[at + 1 + n] = other
        targets.signs[at + 1 + n] = 0.0 if other == word else -1.0
    return at + 1 + plan.negatives


@inner
def fill_up(targets: Targets, first: int, at: int) -> int:
    """Up to a multiple of 3, with targets that are left out."""
    while (at - first) % 3:
        targets.rows[at], targets.signs[at] = targets.rows[first], 0.0
        at += 1
    return at


@loop
def folded(key: int, at: int) -> int:
    """A key for the at-th of something."""
    return hashed((hashed(key & ALL) + at) & ALL)
