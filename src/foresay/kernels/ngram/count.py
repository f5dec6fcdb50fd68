"""Counting n-grams: sorting their keys, counting equal ones, merging blocks. counts/count.py says what for."""

from __future__ import annotations

import numpy as np

from foresay.kernels.ngram.loop import lean_loop, loop

BITS = 11  # of a digit: its 2,048 counters lie in the fastest cache


@loop
def sort_places(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The keys >= 0 in order, and where each stood; equal ones stay in their order."""
    count, largest = 0, 0
    for key in keys:
        if key >= 0:
            count += 1
            largest = max(largest, key)
    ordered, places = np.empty(count, np.int64), np.empty(count, np.int64)
    at = 0
    for place in range(len(keys)):
        if keys[place] >= 0:
            ordered[at], places[at] = keys[place], place
            at += 1
    other, other_places = np.empty(count, np.int64), np.empty(count, np.int64)
    begins = np.empty(1 << BITS, np.int64)
    shift = 0
    while largest >> shift:
        begins[:] = 0
        for key in ordered:
            begins[(key >> shift) & ((1 << BITS) - 1)] += 1
        total = 0
        for digit in range(1 << BITS):
            total, begins[digit] = total + begins[digit], total
        for at in range(count):
            digit = (ordered[at] >> shift) & ((1 << BITS) - 1)
            to = begins[digit]
            begins[digit] += 1
            other[to], other_places[to] = ordered[at], places[at]
        ordered, other = other, ordered
        places, other_places = other_places, places
        shift += BITS
    return ordered, places


@loop
def count_equal(ordered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different keys of a sorted array, and how often each stands there."""
    kinds = 0
    for at in range(len(ordered)):
        kinds += at == 0 or ordered[at] != ordered[at - 1]
    keys, counts = np.empty(kinds, np.int64), np.zeros(kinds, np.int64)
    kind = -1
    for at in range(len(ordered)):
        if at == 0 or ordered[at] != ordered[at - 1]:
            kind += 1
            keys[kind] = ordered[at]
        counts[kind] += 1
    return keys, counts


@lean_loop
def merge(
    keys: np.ndarray,
    counts: np.ndarray,
    more: np.ndarray,
    more_counts: np.ndarray,
    out: np.ndarray,
    out_counts: np.ndarray,
) -> int:
    """Two sorted tables as one, in `out`; how long it is."""
    i, j, at = 0, 0, 0
    while i < len(keys) or j < len(more):
        if j == len(more) or (i < len(keys) and keys[i] < more[j]):
            out[at], out_counts[at] = keys[i], counts[i]
            i += 1
        elif i == len(keys) or more[j] < keys[i]:
            out[at], out_counts[at] = more[j], more_counts[j]
            j += 1
        else:
            out[at], out_counts[at] = keys[i], counts[i] + more_counts[j]
            i, j = i + 1, j + 1
        at += 1
    return at


@loop
def find_keys(
    ids: np.ndarray,
    numbers: np.ndarray,
    id_before: int,
    number_before: int,
    second: bool,
    vocabulary: int,
    start: int,
    stop: int,
) -> np.ndarray:
    keys = np.empty(len(ids), np.int64)
    for at in range(len(ids)):
        context = np.int64(numbers[at - 1]) if at else np.int64(number_before)
        if (ids[at - 1] if at else id_before) == stop:  # the first token of a document
            context = np.int64(start) if second else np.int64(-1)
        keys[at] = context * vocabulary + ids[at] if context >= 0 else -1
    return keys


@loop
def number_tokens(
    ordered: np.ndarray, places: np.ndarray, keys: np.ndarray, numbers: np.ndarray, suffix: np.ndarray
) -> None:
    """Gives every token the number of its n-gram, and every n-gram that of its suffix, which the token had before."""
    number = 0
    old = numbers.copy()
    numbers[:] = -1
    for at in range(len(ordered)):
        while keys[number] < ordered[at]:
            number += 1
        numbers[places[at]] = number
        suffix[number] = old[places[at]]
