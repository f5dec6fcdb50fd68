"""Questions about a short passage, and the words of the passage that answer them, as tags: B-answer, I-answer.

    who has the old key ? ||| anna has the red lamp . ben smith has the old key .
                                                      B   I

Words of one line are the question's, `|||` and the passage's. Only the fact that is asked for answers: others have the
same words, so that question and passage must be compared. A question and its passage stand in one part alone.
"""

from __future__ import annotations

import functools
import random

from foresay.data.in_parts import in_parts
from foresay.data.spans import Span, written

SIZES = {"test": 1_000, "valid": 500, "train": 12_000}
BETWEEN = "|||"
TYPE = "answer"
NAMES = ("anna", "ben", "clara", "emma", "felix", "greta")
SURNAMES = ("smith", "jones", "stone", "hill")
COLOURS = ("old", "red", "small")
THINGS = ("key", "lamp", "book", "cup", "map")
PLACES = ("kitchen", "garden", "school", "shop")
NEAR = ("in the", "behind the", "near the")

Row = tuple[list[str], list[str]]  # words, tags
Fact = dict[str, str]


def facts(draw: random.Random, count: int) -> list[Fact]:
    """Somebody has something somewhere; no two have the same thing, though it may have the same noun."""
    things = draw.sample([f"{colour} {thing}" for colour in COLOURS for thing in THINGS], count)
    people = draw.sample(NAMES, count)
    return [
        {
            "who": one + (f" {draw.choice(SURNAMES)}" if draw.random() < 0.4 else ""),
            "what": f"the {thing}",
            "where": f"{draw.choice(NEAR)} {draw.choice(PLACES)}",
        }
        for one, thing in zip(people, things, strict=True)
    ]


def asked(draw: random.Random) -> Row:
    """A passage of two or three facts and a question for one part of one of them."""
    known, wanted = facts(draw, draw.randint(2, 3)), draw.choice(("who", "what", "where"))
    about = draw.choice(known)
    question = {
        "who": f"who has {about['what']} ?",
        "what": f"what does {about['who']} have ?",
        "where": f"where does {about['who']} have it ?",
    }[wanted].split()
    words, spans = [*question, BETWEEN], list[Span]()
    for fact in known:
        for part in ("who", "has", "what", "where", "."):
            own = fact.get(part, part).split()
            if fact is about and part == wanted:
                spans.append(Span(TYPE, len(words), len(words) + len(own)))
            words += own
    return words, written(spans, len(words), "bio")


@functools.lru_cache(maxsize=2)
def answers(seed: int) -> dict[str, list[Row]]:
    """Train, valid and test of a seed, every row once."""
    draw, found = random.Random(f"answers {seed}"), dict[str, Row]()
    while len(found) < sum(SIZES.values()):
        row = asked(draw)
        found.setdefault(" ".join(row[0]), row)
    return in_parts(list(found.values()), SIZES)
