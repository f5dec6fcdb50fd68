"""Sentences of a small grammar -> their parse in brackets, made by the seed.

    the old dog near a tree sleeps -> (S (NP the old dog (PP near (NP a tree ) ) ) (VP sleeps ) )

Every sentence has one parse: `of`, `near` and `behind` belong to the noun before them, `with`, `for` and `without` to
the verb, and a relative clause, which only the first subject has, ends before the verb of its sentence. A sentence
stands in one part alone: those held out are in no training pair. (The output is linear, as in Vinyals et al. 2015.)
"""

from __future__ import annotations

import functools
import random

from foresay.data.in_parts import in_parts

SIZES = {"test": 1_000, "valid": 1_000, "train": 20_000}

_ARTICLES = ("the", "a", "every", "this", "some")
_ADJECTIVES = ("old", "small", "red", "quiet", "happy", "tall", "strange", "clever")
_NOUNS = (
    "dog", "cat", "child", "teacher", "farmer", "doctor", "bird", "horse", "king", "painter", "river", "house", "tree",
    "garden", "book", "letter", "ship", "song", "lamp", "key",
)  # fmt: skip
_NAMES = ("anna", "ben", "clara", "david", "emma", "felix")
_ALONE = ("sleeps", "laughs", "waits", "sings", "falls", "runs")
_OBJECT = ("sees", "likes", "finds", "hears", "paints", "follows", "carries", "remembers")
_CLAUSE = ("says", "thinks", "knows", "hopes")
_OF_NOUNS = ("of", "near", "behind")
_OF_VERBS = ("with", "for", "without")


def phrase(label: str, *inside: str) -> str:
    return f"({label} {' '.join(filter(None, inside))} )"


class Grammar:
    """Draws parses; `depth` counts what is nested, so that sentences end."""

    def __init__(self, draw: random.Random):
        self.draw = draw

    def often(self, share: float) -> bool:
        return self.draw.random() < share

    def sentence(self, depth: int = 0) -> str:
        subject = self.noun_phrase(depth, relative=depth == 0)
        if depth < 1 and self.often(0.2):
            return phrase("S", subject, phrase("VP", self.draw.choice(_CLAUSE), "that", self.sentence(depth + 1)))
        return phrase("S", subject, self.verb_phrase(depth))

    def noun_phrase(self, depth: int, *, relative: bool = False) -> str:
        if self.often(0.2):
            return phrase("NP", self.draw.choice(_NAMES))
        adjectives = [self.draw.choice(_ADJECTIVES)] if self.often(0.4) else []
        after = ""
        if depth < 2 and self.often(0.25):
            after = phrase("PP", self.draw.choice(_OF_NOUNS), self.noun_phrase(depth + 1))
        elif relative and self.often(0.25):
            inner = phrase("VP", self.draw.choice(_OBJECT), self.noun_phrase(2)) if self.often(0.6) else self._alone()
            after = phrase("SBAR", "who", inner)
        return phrase("NP", self.draw.choice(_ARTICLES), *adjectives, self.draw.choice(_NOUNS), after)

    def _alone(self) -> str:
        return phrase("VP", self.draw.choice(_ALONE))

    def verb_phrase(self, depth: int) -> str:
        end = phrase("PP", self.draw.choice(_OF_VERBS), self.noun_phrase(depth + 1)) if self.often(0.3) else ""
        if self.often(0.35):
            return phrase("VP", self.draw.choice(_ALONE), end)
        return phrase("VP", self.draw.choice(_OBJECT), self.noun_phrase(depth), end)


def words_of(parse: str) -> str:
    """The sentence of a parse: what is no bracket."""
    return " ".join(token for token in parse.split() if token[0] not in "()")


@functools.lru_cache(maxsize=2)
def brackets(seed: int) -> dict[str, list[tuple[str, str]]]:
    """Train, valid and test of a seed, every sentence once."""
    grammar, found = Grammar(random.Random(f"brackets {seed}")), dict[str, str]()
    while len(found) < sum(SIZES.values()):
        parse = grammar.sentence()
        found.setdefault(words_of(parse), parse)
    return in_parts(list(found.items()), SIZES)
