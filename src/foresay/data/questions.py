"""Questions and answers made by the seed; a prefix says what kind of question it is, so one model answers all.

    add: 14 and 8?                                           -> 22
    subtract: 12 from 20?                                    -> 8
    compare: 340 or 99?                                      -> 340
    find: anna has 7 pens, ben has 3 cups. who has cups?     -> ben
    find: anna has 7 pens, ben has 3 cups. how many pens?    -> 7

A question that is held out stands in no training pair; the two numbers of a sum may be added there the other way round.
"""

from __future__ import annotations

import functools
import random

SIZES = {"test": 1_000, "valid": 1_000, "train": 24_000}
MOST = 20  # of numbers that are added and subtracted
HELD = 60  # of the sums and differences so many are valid, and as many test
_NAMES = ("anna", "ben", "clara", "david", "emma", "felix", "greta", "henry")
_THINGS = ("pens", "cups", "books", "coins", "shoes", "keys", "lamps", "maps", "apples", "stones")

Pair = tuple[str, str]


def sums() -> list[Pair]:
    """Every sum, and every difference that is not negative, of numbers up to `MOST`."""
    numbers = range(MOST + 1)
    added = [(f"add: {a} and {b}?", str(a + b)) for a in numbers for b in numbers]
    return added + [(f"subtract: {a} from {b}?", str(b - a)) for b in numbers for a in range(b + 1)]


def _compare(draw: random.Random) -> Pair:
    a, b = draw.randint(0, 999), draw.randint(0, 999)
    return f"compare: {a} or {b}?", str(max(a, b))


def _find(draw: random.Random) -> Pair:
    count = draw.randint(2, 3)
    who, what = draw.sample(_NAMES, count), draw.sample(_THINGS, count)
    number, asked = [draw.randint(2, 99) for _ in who], draw.randrange(count)
    facts = ", ".join(f"{one} has {n} {thing}" for one, n, thing in zip(who, number, what, strict=True))
    if draw.random() < 0.5:
        return f"find: {facts}. who has {what[asked]}?", who[asked]
    return f"find: {facts}. how many {what[asked]}?", str(number[asked])


def _question(draw: random.Random, own: list[Pair]) -> Pair:
    kind = draw.randrange(4)
    return _compare(draw) if kind == 2 else _find(draw) if kind == 3 else draw.choice(own)


@functools.lru_cache(maxsize=2)
def questions(seed: int) -> dict[str, list[Pair]]:
    """Train, valid and test of a seed."""
    draw, asked = random.Random(f"questions {seed}"), set[str]()  # what the parts before ask
    every = sums()
    draw.shuffle(every)
    own = {"test": every[:HELD], "valid": every[HELD : 2 * HELD], "train": every[2 * HELD :]}
    found: dict[str, list[Pair]] = {}
    for part, size in SIZES.items():
        found[part] = []
        while len(found[part]) < size:
            question = _question(draw, own[part])
            if question[0] not in asked:
                found[part].append(question)
        asked |= {source for source, _ in found[part]}
    return found
