"""The loops of counting, smoothing and walking n-grams, compiled by numba when they are first called.

Without numba's compiler (NUMBA_DISABLE_JIT=1) they run as the plain Python they are. What they are for stands where
they are called, in counts/.
"""

from __future__ import annotations

import numpy as np
from numba import njit

BITS = 11  # of a digit: its 2,048 counters lie in the fastest cache


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def interpolate(
    first: np.ndarray,
    count: np.ndarray,
    suffix: np.ndarray,
    lower: np.ndarray,
    discount: np.ndarray,
    kinds: bool,
    keep: np.ndarray,
    probs: np.ndarray,
    backs: np.ndarray,
) -> None:
    """Fills `probs` of an order's n-grams and `backs` of their contexts; with `kinds` each kind of word counts as one
    more (Witten and Bell), else `discount` is taken from counts of 1, 2, 3 and more. What is not kept loses all."""
    for context in range(len(first) - 1):
        total, lost = 0.0, 0.0
        for at in range(first[context], first[context + 1]):
            total += count[at]
            lost += min(discount[min(count[at], 3)], count[at]) if keep[at] else count[at]
        if kinds:
            lost += first[context + 1] - first[context]
            total += first[context + 1] - first[context]
        if total == 0.0:
            backs[context] = 1.0
            continue
        backs[context] = lost / total
        for at in range(first[context], first[context + 1]):
            taken = 0.0 if kinds else min(discount[min(count[at], 3)], count[at])
            probs[at] = (count[at] - taken) / total + backs[context] * lower[suffix[at]]


@njit(cache=True, nogil=True)
def katz(
    first: np.ndarray,
    count: np.ndarray,
    suffix: np.ndarray,
    lower: np.ndarray,
    shares: np.ndarray,
    most: int,
    keep: np.ndarray,
    probs: np.ndarray,
    backs: np.ndarray,
) -> None:
    for context in range(len(first) - 1):
        total, held = 0.0, 0.0
        for at in range(first[context], first[context + 1]):
            total += count[at]
            held += count[at] * shares[min(count[at], most + 1)] if keep[at] else 0.0
        if total == 0.0:
            continue
        if total - held < 1e-9:  # nothing was taken: one count more stands for what was never seen
            total += 1.0
        seen, below = 0.0, 0.0
        for at in range(first[context], first[context + 1]):
            probs[at] = count[at] * shares[min(count[at], most + 1)] / total
            if keep[at]:
                seen += probs[at]
                below += lower[suffix[at]]
        if below < 1.0 - 1e-9:
            backs[context] = (1.0 - seen) / (1.0 - below)
        else:  # every word there is has been seen: nobody is left to give to
            for at in range(first[context], first[context + 1]):
                probs[at] /= seen


@njit(cache=True, nogil=True)
def find_needless(
    first: np.ndarray,
    suffix: np.ndarray,
    probs: np.ndarray,
    lower: np.ndarray,
    contexts: np.ndarray,
    needed: np.ndarray,
    threshold: float,
    keep: np.ndarray,
    backs: np.ndarray,
) -> None:
    """Marks what an order can do without, and works out anew what its contexts multiply their missing words with."""
    for context in range(len(first) - 1):
        rest, below = 1.0, 1.0
        for at in range(first[context], first[context + 1]):
            rest -= probs[at]
            below -= lower[suffix[at]]
        if first[context] == first[context + 1] or below <= 1e-12 or rest <= 0.0:
            continue
        back = np.log(rest / below)
        gone, gone_below = 0.0, 0.0
        for at in range(first[context], first[context + 1]):
            p, q = probs[at], lower[suffix[at]]
            if needed[at] or q <= 0.0:
                continue
            without = np.log((rest + p) / (below + q))
            change = -contexts[context] * (p * (np.log(q) + without - np.log(p)) + (without - back) * rest)
            if np.exp(change) - 1.0 < threshold:
                keep[at] = False
                gone += p
                gone_below += q
        if gone > 0.0:
            backs[context] = (rest + gone) / (below + gone_below)


@njit(cache=True, nogil=True)
def link(
    word: np.ndarray,
    suffix: np.ndarray,
    first: np.ndarray,
    back: np.ndarray,
    after: np.ndarray,
    shorter: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """Fills `after` and `shorter`: a context that nothing follows and that changes nothing is passed over.

    A document ends with STOP, so what comes then is at its start.
    """
    begun = 0
    for at in range(1, len(word)):
        place = after[suffix[at]]
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


@njit(cache=True, nogil=True, inline="always")
def _is_blank(byte: int) -> bool:
    """White space of ASCII, as Python's `split` has it."""
    return byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31


@njit(cache=True, nogil=True, inline="always")
def _hashed(text: np.ndarray, begin: int, end: int) -> int:
    found = 0
    for at in range(begin, end):
        found = (found * 31 + np.int64(text[at])) & 0xFFFFFFF
    return int((found ^ (found >> 13)) & 0xFFFFFFF)


@njit(cache=True, nogil=True)
def place_words(words: np.ndarray, begins: np.ndarray, slots: np.ndarray) -> None:
    """Gives every word (bytes, one after the other) a slot by its letters; -1 is a free one."""
    for word in range(len(begins) - 1):
        slot = _hashed(words, begins[word], begins[word + 1]) & (len(slots) - 1)
        while slots[slot] >= 0:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = word


@njit(cache=True, nogil=True)
def count_words(low: int, high: int, text: np.ndarray, ends: np.ndarray, counts: np.ndarray) -> None:
    """How many words stand in each row of a text; rows end where `ends` says."""
    for row in range(low, high):
        blank, found = True, 0
        for at in range(ends[row - 1] + 1 if row else 0, ends[row]):
            now = _is_blank(text[at])
            found += blank and not now
            blank = now
        counts[row] = found


@njit(cache=True, nogil=True)
def find_words(
    low: int,
    high: int,
    text: np.ndarray,
    ends: np.ndarray,
    places: np.ndarray,
    words: np.ndarray,
    begins: np.ndarray,
    slots: np.ndarray,
    ids: np.ndarray,
    unknown: int,
    found: np.ndarray,
) -> None:
    """The id of every word of each row, from its place on in `found`."""
    for row in range(low, high):
        at, to, end = (ends[row - 1] + 1 if row else 0), places[row], ends[row]
        while at < end:
            if _is_blank(text[at]):
                at += 1
                continue
            begin = at
            while at < end and not _is_blank(text[at]):
                at += 1
            slot = _hashed(text, begin, at) & (len(slots) - 1)
            found[to] = unknown
            while slots[slot] >= 0:
                word = slots[slot]
                first, length = begins[word], begins[word + 1] - begins[word]
                same = length == at - begin
                for i in range(length if same else 0):
                    if words[first + i] != text[begin + i]:
                        same = False
                        break
                if same:
                    found[to] = ids[word]
                    break
                slot = (slot + 1) & (len(slots) - 1)
            to += 1
