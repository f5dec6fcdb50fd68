"""Walking the finished table, word by word. counts/table.py says how it lies."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def link(
    word: np.ndarray,
    first: np.ndarray,
    back: np.ndarray,
    after: np.ndarray,
    shorter: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """Fills `shorter` and `after`, which says before where the longest end of each n-gram stands.

    A context that nothing follows and that changes nothing is passed over. A document ends with STOP, so what comes
    then is at its start.
    """
    begun = 0
    for at in range(1, len(word)):
        place = after[after[at]]
        if at < len(back):
            shorter[at] = place
            if first[at + 1] > first[at] or back[at] != 0.0:
                place = at
        after[at] = place
        if at == 1 + start:
            begun = place
    for at in range(1, len(word)):
        if word[at] == stop:
            after[at] = begun


@njit(cache=True, nogil=True, inline="always")
def find_child(grams: np.ndarray, low: int, high: int, wanted: int) -> int:
    """Where a word stands among the children of a context, or would stand."""
    while high - low > 4:
        middle = (low + high) >> 1
        if grams[middle, 0] < wanted:
            low = middle + 1
        else:
            high = middle
    while low < high and grams[low, 0] < wanted:
        low += 1
    return low


@njit(cache=True, nogil=True, inline="always")
def next_word(
    context: int,
    wanted: int,
    grams: np.ndarray,
    logs: np.ndarray,
    contexts: np.ndarray,
    begins: np.ndarray,
    backs: np.ndarray,
    flat: np.ndarray,
) -> tuple[float, int]:
    """log P of a word after a context, and the context that follows."""
    total, known = 0.0, False
    while context:
        end = begins[context + 1, 0]
        at = find_child(grams, begins[context, 0], end, wanted)
        if at < end and grams[at, 0] == wanted:
            return (total if known else total + logs[at, 1]), grams[at, 2]
        if not known:
            total += backs[context, 3]
            if len(flat):  # the shorter contexts still say which one follows
                total += flat[0]
                known = True
        context = contexts[context, 2]
    return (total if known else total + logs[1 + wanted, 1]), grams[1 + wanted, 2]


@njit(cache=True, nogil=True)
def score_rows(
    low: int,
    high: int,
    ids: np.ndarray,
    lengths: np.ndarray,
    at: np.ndarray,
    found: np.ndarray,
    grams: np.ndarray,
    logs: np.ndarray,
    contexts: np.ndarray,
    begins: np.ndarray,
    backs: np.ndarray,
    flat: np.ndarray,
) -> None:
    """log P of rows of ids; `at` are their contexts, before and after."""
    for row in range(low, high):
        context = at[row]
        for t in range(lengths[row]):
            found[row, t], context = next_word(context, ids[row, t], grams, logs, contexts, begins, backs, flat)
        at[row] = context


@njit(cache=True, nogil=True)
def fill_rows(
    low: int,
    high: int,
    at: np.ndarray,
    found: np.ndarray,
    grams: np.ndarray,
    logs: np.ndarray,
    contexts: np.ndarray,
    begins: np.ndarray,
    backs: np.ndarray,
    flat: np.ndarray,
) -> None:
    """log P of every word in each context: from the shortest to the longest, each says what it knows."""
    for row in range(low, high):
        context = at[row]
        path = np.empty(64, np.int64)
        depth = 0
        while context:
            path[depth] = context
            depth += 1
            context = contexts[context, 2] if len(flat) == 0 else 0
        for word in range(found.shape[1]):
            found[row, word] = flat[0] if depth and len(flat) else logs[1 + word, 1]
        for step in range(depth):
            context = path[depth - 1 - step]
            for word in range(found.shape[1]):
                found[row, word] += backs[context, 3]
            for child in range(begins[context, 0], begins[context + 1, 0]):
                found[row, grams[child, 0]] = logs[child, 1]


@njit(cache=True, nogil=True)
def sum_rows(
    low: int,
    high: int,
    ids: np.ndarray,
    ends: np.ndarray,
    start: int,
    found: np.ndarray,
    grams: np.ndarray,
    logs: np.ndarray,
    contexts: np.ndarray,
    begins: np.ndarray,
    backs: np.ndarray,
    flat: np.ndarray,
) -> None:
    """log P of rows of ids that end where `ends` says."""
    for row in range(low, high):
        context, total = start, 0.0
        for at in range(ends[row - 1] + 1 if row else 0, ends[row] + 1):
            one, context = next_word(context, ids[at], grams, logs, contexts, begins, backs, flat)
            total += one
        found[row] = total
