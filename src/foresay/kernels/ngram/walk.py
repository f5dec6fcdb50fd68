"""Walking the finished table. counts/table.py says how it lies.

What costs is waiting for memory: a step reads a context and one of its n-grams, which lie anywhere. So a thread walks
LANES rows in turn, and while one waits, the others go on. Each turn has two halves: where the n-gram would stand, and
whether it stands there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from foresay.kernels.ngram.loop import Row, inner, lean_loop, loop
from foresay.kernels.ngram.machine import fetch_soon

LANES = 32
FEW = 4  # children of a context that are looked through one by one; more are found by their slots


class Walk(NamedTuple):
    """The table as the loops read it: `logs`, `begins` and `backs` are other views of the same memory."""

    grams: np.ndarray  # word, -, after
    logs: np.ndarray  # -, log P, -
    contexts: np.ndarray  # -, -, shorter, -
    begins: np.ndarray  # first, -
    backs: np.ndarray  # -, -, -, back
    flat: np.ndarray
    slots: np.ndarray  # n-grams of contexts with many children, by context and word; -1 is a free one


@lean_loop
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


@inner
def _slot_of(context: int, word: int, slots: np.ndarray) -> int:
    mixed = np.int64(context) * 0x2545F491 + np.int64(word) * 0x1B873593  # below 2^63
    return int((mixed ^ (mixed >> 29)) & (len(slots) - 1))


@lean_loop
def fill_slots(grams: np.ndarray, first: np.ndarray, slots: np.ndarray) -> None:
    """Gives every n-gram whose context has many children a slot."""
    for context in range(1, len(first) - 1):
        if first[context + 1] - first[context] > FEW:
            for at in range(first[context], first[context + 1]):
                slot = _slot_of(context, grams[at, 0], slots)
                while slots[slot] >= 0:
                    slot = (slot + 1) & (len(slots) - 1)
                slots[slot] = at


@inner
def _guess(context: int, wanted: int, begins: np.ndarray, slots: np.ndarray) -> int:
    """Where the first child of a context stands that may be of a word, as far as can be said without reading it."""
    if context == 0:
        return 1 + wanted
    first, end = begins[Row(context), 0], begins[Row(context + 1), 0]
    if end - first <= FEW:
        return first if first < end else -1
    slot = _slot_of(context, wanted, slots)
    at = slots[Row(slot)]
    while at >= 0 and not first <= at < end:
        slot = (slot + 1) & (len(slots) - 1)
        at = slots[Row(slot)]
    return int(at)


@inner
def _child(context: int, wanted: int, guess: int, grams: np.ndarray, begins: np.ndarray, slots: np.ndarray) -> int:
    """Where the child of a context stands that is of a word, -1 where there is none."""
    if context == 0 or guess < 0 or grams[Row(guess), 0] == wanted:
        return guess
    first, end = begins[Row(context), 0], begins[Row(context + 1), 0]
    if end - first <= FEW:
        for at in range(guess + 1, end):
            if grams[Row(at), 0] == wanted:
                return at
        return -1
    slot = _slot_of(context, wanted, slots)
    at = slots[Row(slot)]
    while at >= 0 and not (first <= at < end and grams[Row(at), 0] == wanted):
        slot = (slot + 1) & (len(slots) - 1)
        at = slots[Row(slot)]
    return int(at)


def walk_rows(
    low: int,
    high: int,
    ids: np.ndarray,
    firsts: np.ndarray,
    ends: np.ndarray,
    at: np.ndarray,
    found: np.ndarray,
    table: Walk,
) -> None:
    """log P of each id of rows, which begin and end where it is said; `at` are their contexts, before and after."""
    lanes, totals = np.zeros((6, LANES), np.int64), np.zeros(LANES, np.float64)
    _walk(low, high, ids, firsts, ends, at, found, table, lanes, totals)


@lean_loop
def _walk(
    row: int,
    high: int,
    ids: np.ndarray,
    firsts: np.ndarray,
    ends: np.ndarray,
    at: np.ndarray,
    found: np.ndarray,
    table: Walk,
    lanes: np.ndarray,
    totals: np.ndarray,
) -> None:
    grams, logs, contexts, begins, backs, flat, slots = table
    rows, places, stops, now, guesses, known = lanes[0], lanes[1], lanes[2], lanes[3], lanes[4], lanes[5]
    live = 0
    while live or row < high:
        while live < LANES and row < high:
            if firsts[row] < ends[row]:
                rows[live], places[live], stops[live], now[live] = row, firsts[row], ends[row], at[row]
                totals[live], known[live] = 0.0, 0
                live += 1
            row += 1
        for lane in range(live):
            guesses[lane] = _guess(now[lane], ids[Row(places[lane])], begins, slots)
            fetch_soon(grams, guesses[lane])
        for last in range(live, 0, -1):
            lane = Row(last - 1)
            context, place, total = now[lane], places[lane], totals[lane]
            child = _child(context, ids[Row(place)], guesses[lane], grams, begins, slots)
            if child >= 0:
                found[Row(place)] = total if known[lane] else total + logs[Row(child), 1]
                total, known[lane] = 0.0, 0
                context, place = grams[Row(child), 2], place + 1
            else:
                if not known[lane]:
                    total += backs[Row(context), 3]
                    if len(flat):  # the shorter contexts still say which one follows
                        total += flat[0]
                        known[lane] = 1
                context = contexts[Row(context), 2]
            now[lane], places[lane], totals[lane] = context, place, total
            if place < stops[lane]:
                fetch_soon(begins, context)
                fetch_soon(slots, _slot_of(context, ids[Row(place)], slots))
                continue
            at[rows[lane]] = context
            live -= 1
            totals[lane] = totals[live]
            for kind in range(len(lanes)):
                lanes[kind, lane] = lanes[kind, live]


@loop
def _path(context: int, table: Walk) -> np.ndarray:
    """A context and those that it gives way to, the shortest first."""
    at, depth = context, 0
    while at:
        at = table.contexts[at, 2]
        depth += 1
    path = np.empty(depth, np.int64)
    while context:
        depth -= 1
        path[depth] = context
        context = table.contexts[context, 2]
    return path


@loop
def fill_rows(low: int, high: int, at: np.ndarray, found: np.ndarray, table: Walk) -> None:
    """log P of every word in each context: from the shortest to the longest, each says what it knows."""
    flat = len(table.flat) > 0
    for row in range(low, high):
        path = _path(at[row], table)
        for word in range(found.shape[1]):
            found[row, word] = table.flat[0] if flat and len(path) else table.logs[1 + word, 1]
        for context in path[-1:] if flat else path:
            for word in range(found.shape[1]):
                found[row, word] += table.backs[context, 3]
            for child in range(table.begins[context, 0], table.begins[context + 1, 0]):
                found[row, table.grams[child, 0]] = table.logs[child, 1]
