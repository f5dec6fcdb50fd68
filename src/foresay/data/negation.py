"""Film reviews whose words say nothing unless their order is read: good or bad by what is denied.

    lacking a good script , there is a fine cast        good
    there is a fine cast , lacking a good script        bad

A review has two remarks, each of praise or of blame; one stands bare, one is denied, which turns it round. Its label is
that of the last. So both labels have the same words equally often, and a model without order is right half of the time.
No review of valid or test stands in train. After the lecture's "lacking a good script, good actors".
"""

from __future__ import annotations

import functools
import random

TEXTS = {"train": 2_000, "valid": 200, "test": 500}
THINGS = ("script", "cast", "story", "ending", "score", "plot", "scene", "idea")
WORDS = {"good": ("good", "fine", "clever", "moving", "fresh"), "bad": ("bad", "dull", "silly", "weak", "stale")}
BARE = ("with a {} {}", "it has a {} {}", "there is a {} {}")
DENIED = ("lacking a {} {}", "without a {} {}", "there is no {} {}", "far from a {} {}")
JOINED = (" , ", " , and ", " and ")


@functools.lru_cache(maxsize=2)
def negation(seed: int) -> dict[str, list[tuple[str, str]]]:
    """Train, valid and test of a seed: (review, good or bad)."""
    draw, seen = random.Random(f"negation {seed}"), set[str]()
    found: dict[str, list[tuple[str, str]]] = {}
    for name, count in TEXTS.items():
        found[name] = []
        while len(found[name]) < count:
            text, label = review(draw)
            if text not in seen:
                seen.add(text)
                found[name].append((text, label))
    return found


def review(draw: random.Random) -> tuple[str, str]:
    """One remark denied and one bare, in either order, each of praise or blame; the label is of the last."""
    kinds = [BARE, DENIED]
    draw.shuffle(kinds)
    said = [draw.choice(("good", "bad")) for _ in kinds]
    things = draw.sample(THINGS, 2)
    remarks = [
        draw.choice(kind).format(draw.choice(WORDS[side]), thing)
        for kind, side, thing in zip(kinds, said, things, strict=True)
    ]
    last = said[-1] if kinds[-1] is BARE else {"good": "bad", "bad": "good"}[said[-1]]
    return draw.choice(JOINED).join(remarks), last
