"""The fewest edits that make one sequence of units of another: a unit replaced, left out, put in, two exchanged.

    d(i, j) = min( d(i-1, j-1) + [a_i != b_j],   d(i-1, j) + 1,   d(i, j-1) + 1,
                   d(i-2, j-2) + 1  where a_{i-1} a_i = b_j b_{j-1} )

Among equally few edits those with the fewest units put in or left out: where replacing alone is as cheap, nothing else
is done. What both sequences begin and end with stays outside the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SHIFT = 1 << 20  # an edit weighs so much, and one that changes the length 1 more
REPLACE, DELETE, INSERT, SWAP = (1, 1), (1, 0), (0, 1), (2, 2)


@dataclass(frozen=True)
class Edit:
    """Units `low` to `high` of the one became units `begin` to `end` of the other."""

    low: int
    high: int
    begin: int
    end: int

    @property
    def is_swap(self) -> bool:
        return self.high - self.low == 2 == self.end - self.begin


def align(before: Sequence[str], after: Sequence[str]) -> list[Edit]:
    """The edits from `before` to `after`, from left to right, one for each unit replaced, put in or left out."""
    shorter = min(len(before), len(after))
    head = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    tail = next((i for i in range(shorter - head) if before[-1 - i] != after[-1 - i]), shorter - head)
    a, b = before[head : len(before) - tail], after[head : len(after) - tail]
    found, i, j = [], head, head
    for down, right in _by_place(a, b) or _walked(a, b):
        if down != right or tuple(before[i : i + down]) != tuple(after[j : j + right]):
            found.append(Edit(i, i + down, j, j + right))
        i, j = i + down, j + right
    return found


def joined(edits: Sequence[Edit]) -> list[Edit]:
    """Edits that touch as one stretch where the length changes among them: `thecat` -> `the cat` is one change."""
    stretches: list[list[Edit]] = []
    for edit in edits:
        if stretches and stretches[-1][-1].high == edit.low and stretches[-1][-1].end == edit.begin:
            stretches[-1].append(edit)
        else:
            stretches.append([edit])
    found = []
    for own in stretches:
        whole = Edit(own[0].low, own[-1].high, own[0].begin, own[-1].end)
        found += own if all(one.high - one.low == one.end - one.begin for one in own) else [whole]
    return found


def _by_place(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """The steps without a table, where at most two places differ: putting in and leaving out are two edits too."""
    if len(a) != len(b):
        return []
    other = [i for i, (one, two) in enumerate(zip(a, b, strict=True)) if one != two]
    if len(other) > 2:
        return []
    if len(other) == 2 and other[1] == other[0] + 1 and (a[other[0]], a[other[1]]) == (b[other[1]], b[other[0]]):
        return [*[REPLACE] * other[0], SWAP, *[REPLACE] * (len(a) - other[1] - 1)]
    return [REPLACE] * len(a)


def _walked(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """The steps of the cheapest way through the table, by the table of what remains from each place."""
    rest = _table(a, b)
    steps, i, j = [], 0, 0
    while i < len(a) or j < len(b):
        steps.append(min(_ways(a, b, rest, i, j), key=lambda way: way[0])[1])
        i, j = i + steps[-1][0], j + steps[-1][1]
    return steps


def _table(a: Sequence[str], b: Sequence[str]) -> list[list[int]]:
    rest = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a), -1, -1):
        for j in range(len(b), -1, -1):
            if i < len(a) or j < len(b):
                rest[i][j] = min(cost for cost, _ in _ways(a, b, rest, i, j))
    return rest


def _ways(
    a: Sequence[str], b: Sequence[str], rest: list[list[int]], i: int, j: int
) -> list[tuple[int, tuple[int, int]]]:
    """What each step from (i, j) costs in all; on a tie the first one is taken."""
    found = []
    if i < len(a) and j < len(b):
        found.append((rest[i + 1][j + 1] + SHIFT * (a[i] != b[j]), REPLACE))
    if i + 1 < len(a) and j + 1 < len(b) and a[i] != a[i + 1] and a[i] == b[j + 1] and a[i + 1] == b[j]:
        found.append((rest[i + 2][j + 2] + SHIFT, SWAP))
    if i < len(a):
        found.append((rest[i + 1][j] + SHIFT + 1, DELETE))
    if j < len(b):
        found.append((rest[i][j + 1] + SHIFT + 1, INSERT))
    return found
