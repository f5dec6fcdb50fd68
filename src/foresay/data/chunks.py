"""Sentences of a small grammar with their phrases (chunks) as BIO tags, made by the seed.

    the  plan orders | list   | ships        NP VP NP: "list" agrees with many orders
    the  plan | orders | lists               NP VP NP: "orders" agrees with one plan

Most words can be several things, and what stands around them tells which: orders and fifteen more are nouns or verbs;
`that` is an article or joins a clause, `her` an article or whole, `to` goes with a verb or a noun, `up` belongs to the
verb (picks up) or to what follows (walks up), `before` leads a phrase or a clause, `often` stands alone or in a verb.
Every sentence has one reading. Phrases are flat, as in CoNLL-2000 (Tjong Kim Sang and Buchholz 2000), whose types they
have: NP, VP, PP, ADVP, SBAR, PRT. A sentence stands in one part alone.
"""

from __future__ import annotations

import functools
import random

from foresay.data.in_parts import in_parts
from foresay.data.spans import Span, written

SIZES = {"test": 1_000, "valid": 400, "train": 4_000}

BOTH = (
    "plan", "order", "ship", "plant", "record", "report", "claim", "test", "lock", "trap", "market", "question", "list",
    "answer", "cover", "mark",
)  # fmt: skip
NOUNS = ("teacher", "farmer", "river", "letter", "street", "doctor", "engine", "garden")
NAMES = ("anna", "ben", "clara", "emma", "felix")
ADJECTIVES = ("old", "small", "red", "quiet", "new", "strange")
ADVERBS = ("often", "never", "always", "quietly")
ARTICLES = {True: ("the", "a", "every", "that", "her"), False: ("the", "some", "those", "her")}  # of one, of many
SUBJECTS = {True: ("she", "he"), False: ("they", "we")}
OBJECTS = ("her", "him", "them")
AUXILIARIES = ("will", "can", "must")
SEE, GIVE, SAY = ("see", "like", "find", "need"), ("give", "send", "sell"), ("say", "think", "hope")
WALK, PICK, WANT = ("walk", "run", "climb"), ("pick", "turn", "look"), ("want", "learn", "hope")
ALONG, BEFORE = ("up", "over"), ("before", "after", "since")

Chunk = tuple[str, list[str]]  # its type, "" outside of all, and its words
Sentence = tuple[list[str], list[str]]  # words, tags


class Chunked:
    """Draws sentences as lists of chunks."""

    def __init__(self, draw: random.Random):
        self.draw = draw

    def often(self, share: float) -> bool:
        return self.draw.random() < share

    def sentence(self) -> list[Chunk]:
        found = self.clause(deep=True)
        if self.often(0.25):
            found = [*self.adjunct(), ("", [","]), *found]
        elif self.often(0.35):
            found += self.adjunct()
        elif self.often(0.25):
            found += [("", ["and"]), *self.clause(deep=False)]
        return [*found, ("", ["."])]

    def adjunct(self) -> list[Chunk]:
        word = self.draw.choice(BEFORE)
        if self.often(0.5):
            return [("PP", [word]), *self.noun_phrase(self.often(0.5))]
        return [("SBAR", [word]), *self.clause(deep=False)]

    def clause(self, *, deep: bool) -> list[Chunk]:
        one = self.often(0.5)
        return [*self.subject(one), *self.predicate(one, deep=deep)]

    def subject(self, one: bool) -> list[Chunk]:
        if self.often(0.2):
            return [("NP", [self.draw.choice(SUBJECTS[one] + NAMES if one else SUBJECTS[one])])]
        return self.noun_phrase(one)

    def noun_phrase(self, one: bool) -> list[Chunk]:
        """An article unless many are meant, adjectives, one noun or two, and perhaps what it is of."""
        bare = not one and self.often(0.4)
        words = [] if bare else [self.draw.choice(ARTICLES[one])]
        words += [self.draw.choice(ADJECTIVES)] if self.often(0.3) else []
        if not bare and self.often(0.3):
            words.append(self.draw.choice(BOTH + NOUNS))
        words.append(self.draw.choice(BOTH * 2 + NOUNS) + ("" if one else "s"))
        of = [("PP", ["of"]), *self.noun_phrase(self.often(0.5))] if self.often(0.15) else []
        return [("NP", words), *of]

    def object(self) -> list[Chunk]:
        if self.often(0.2):
            return [("NP", [self.draw.choice(OBJECTS + NAMES)])]
        return self.noun_phrase(self.often(0.5))

    def predicate(self, one: bool, *, deep: bool) -> list[Chunk]:
        kinds = [self.plain, self.plain, self.giving, self.walking, self.picking, self.wanting]
        return self.draw.choice([*kinds, self.saying, self.saying] if deep else kinds)(one)

    def verb(self, one: bool, words: tuple[str, ...], *more: str) -> list[Chunk]:
        """The words of a verb: with an auxiliary, which takes adverbs in, or agreeing with its subject."""
        verb, adverb = self.draw.choice(words), [self.draw.choice(ADVERBS)] if self.often(0.25) else []
        if self.often(0.25):
            return [("VP", [self.draw.choice(AUXILIARIES), *adverb, verb, *more])]
        alone: list[Chunk] = [("ADVP", adverb)] if adverb else []
        return [*alone, ("VP", [verb + ("s" if one else ""), *more])]

    def plain(self, one: bool) -> list[Chunk]:
        return [*self.verb(one, BOTH * 2 + SEE), *self.object()]

    def giving(self, one: bool) -> list[Chunk]:
        return [
            *self.verb(one, GIVE),
            ("NP", [self.draw.choice(("her", *OBJECTS, *NAMES))]),
            *self.noun_phrase(self.often(0.4)),
        ]

    def saying(self, one: bool) -> list[Chunk]:
        joined: list[Chunk] = [("SBAR", ["that"])] if self.often(0.6) else []
        return [*self.verb(one, SAY), *joined, *self.clause(deep=False)]

    def walking(self, one: bool) -> list[Chunk]:
        found = self.verb(one, WALK)
        if self.often(0.7):
            found += [("PP", [self.draw.choice(("to", *ALONG))]), *self.noun_phrase(self.often(0.5))]
        if self.often(0.4):
            found += [("VP", ["to", self.draw.choice(BOTH * 2 + SEE)]), *self.object()]
        return found

    def picking(self, one: bool) -> list[Chunk]:
        both = [[("PRT", [self.draw.choice(ALONG)])], self.object()]
        self.draw.shuffle(both)
        return [*self.verb(one, PICK), *both[0], *both[1]]

    def wanting(self, one: bool) -> list[Chunk]:
        return [*self.verb(one, WANT, "to", self.draw.choice(BOTH * 2 + SEE)), *self.object()]


def tagged(chunks: list[Chunk]) -> Sentence:
    """The words of chunks, and their BIO tags."""
    words, spans = list[str](), list[Span]()
    for kind, own in chunks:
        if kind:
            spans.append(Span(kind, len(words), len(words) + len(own)))
        words += own
    return words, written(spans, len(words), "bio")


@functools.lru_cache(maxsize=2)
def chunks(seed: int) -> dict[str, list[Sentence]]:
    """Train, valid and test of a seed, every sentence once."""
    grammar, found = Chunked(random.Random(f"chunks {seed}")), dict[str, Sentence]()
    while len(found) < sum(SIZES.values()):
        made = tagged(grammar.sentence())
        found.setdefault(" ".join(made[0]), made)
    return in_parts(list(found.values()), SIZES)
