"""Pairs of sentences, premise and hypothesis, and whether the first entails, contradicts or says nothing of the second.

    all animals move   ||| some old dogs run     neutral
    no animals move    ||| some old dogs run     contradicts
    all dogs run       ||| some animals move     entails

A sentence is a quantifier, a noun that `old` may narrow, and a verb that `do not` may deny. The label is that of logic,
over all worlds: entails where the hypothesis holds in every world in which the premise does, contradicts where it holds
in none of them. In every world there are some of both nouns. A dog is an animal and no cat; who walks moves and may
also sing. The three labels are equally frequent; a pair stands in one part alone.
"""

from __future__ import annotations

import functools
import random
from itertools import product
from typing import NamedTuple

import numpy as np

SIZES = {"test": 1_000, "valid": 1_000, "train": 20_000}
LABELS = ("entails", "contradicts", "neutral")
QUANTIFIERS = ("all", "some", "no", "not all")
KINDS = {
    "people": ("men", "women"),
    "birds": ("crows", "owls"),
    "pets": ("dogs", "cats"),
}
NOUNS = {one: frozenset({one}) for own in KINDS.values() for one in own}  # what is one of them
NOUNS |= {group: frozenset(own) for group, own in KINDS.items()}
NOUNS |= {"animals": NOUNS["birds"] | NOUNS["pets"]}
ACTS = {"move": ("walk", "run"), "sing": ()}
VERBS = {verb: (verb, above) for above, own in ACTS.items() for verb in own} | {verb: (verb,) for verb in ACTS}

Cell = tuple[bool, bool]  # of a noun, or of a verb: in the premise's, in the hypothesis's


class Said(NamedTuple):
    """A sentence."""

    quantifier: str
    old: bool
    noun: str
    denied: bool
    verb: str

    def __str__(self) -> str:
        words = [self.quantifier, "old" if self.old else "", self.noun, "do not" if self.denied else "", self.verb]
        return " ".join(filter(None, words))


def label(one: Said, other: Said) -> str:
    """What a premise says of a hypothesis."""
    return _judged(
        _nouns(one.noun, one.old, other.noun, other.old), _verbs(one.verb, other.verb), _plain(one), _plain(other)
    )


@functools.cache
def _nouns(one: str, old: bool, other: str, other_old: bool) -> frozenset[Cell]:
    """The cells of nouns that somebody can be in; who is in neither does not matter."""
    return frozenset(
        (kind in NOUNS[one] and aged >= old, kind in NOUNS[other] and aged >= other_old)
        for kind in NOUNS[one] | NOUNS[other]
        for aged in (True, False)
    ) - {(False, False)}


@functools.cache
def _verbs(one: str, other: str) -> frozenset[Cell]:
    """The cells of verbs: who does what is below does what is above it."""
    never = [((True, False), other in VERBS[one]), ((False, True), one in VERBS[other])]
    return frozenset(product((True, False), (True, False))) - {cell for cell, below in never if below}


def _plain(said: Said) -> str:
    """The quantifier of the same without a denial: all who do not are no who do."""
    turned = {"all": "no", "no": "all", "some": "not all", "not all": "some"}
    return turned[said.quantifier] if said.denied else said.quantifier


@functools.cache
def _judged(nouns: frozenset[Cell], verbs: frozenset[Cell], one: str, other: str) -> str:
    """The label over all worlds: a world is which of the cells, a noun's with a verb's, have somebody in them."""
    cells = list(enumerate(product(sorted(nouns), sorted(verbs))))
    worlds, holds = np.arange(2 ** len(cells)), []  # a bit for each cell
    for side, quantifier in enumerate((one, other)):
        own = worlds & sum(1 << bit for bit, (noun, _) in cells if noun[side])
        does = own & sum(1 << bit for bit, (_, verb) in cells if verb[side])
        truth = {"all": does == own, "some": does != 0, "no": does == 0, "not all": does != own}[quantifier]
        holds.append((own != 0, truth))
    (here, premise), (there, hypothesis) = holds
    found = set(hypothesis[here & there & premise].tolist())
    return {(True,): "entails", (False,): "contradicts"}.get(tuple(found), "neutral")


@functools.cache
def near(noun: str, verb: str) -> tuple[list[str], list[str]]:
    """Nouns and verbs that are the same, above or below."""
    nouns = [one for one, own in NOUNS.items() if own <= NOUNS[noun] or own >= NOUNS[noun]]
    return nouns, [one for one, own in VERBS.items() if one in VERBS[verb] or verb in own]


def drawn(draw: random.Random) -> tuple[Said, Said]:
    """Two sentences of which the second often has the noun or the verb of the first, or one above or below it."""
    old, noun, verb = draw.random() < 0.2, draw.choice(list(NOUNS)), draw.choice(list(VERBS))
    one = Said(draw.choice(QUANTIFIERS), old, noun, draw.random() < 0.2, verb)
    nouns, verbs = near(noun, verb)
    noun = draw.choice(nouns if draw.random() < 0.75 else list(NOUNS))
    verb = draw.choice(verbs if draw.random() < 0.75 else list(VERBS))
    old = old if draw.random() < 0.7 else not old
    return one, Said(draw.choice(QUANTIFIERS), old, noun, draw.random() < 0.2, verb)


@functools.lru_cache(maxsize=2)
def entailment(seed: int) -> dict[str, list[tuple[str, str, str]]]:
    """Train, valid and test of a seed: (premise, hypothesis, label)."""
    draw, seen = random.Random(f"entailment {seed}"), set[tuple[Said, Said]]()
    found: dict[str, list[tuple[str, str, str]]] = {}
    for name, size in SIZES.items():
        found[name] = []
        while len(found[name]) < size:
            wanted, both = LABELS[len(found[name]) % 3], drawn(draw)
            while both in seen or label(*both) != wanted:
                both = drawn(draw)
            seen.add(both)
            found[name].append((str(both[0]), str(both[1]), wanted))
        draw.shuffle(found[name])
    return found
