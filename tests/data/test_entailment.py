"""Pairs of sentences: labels by logic, by hand and by worlds of single creatures; parts apart, labels balanced."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations_with_replacement, product

import pytest

from foresay.data.entailment import ACTS, KINDS, SIZES, Said, drawn, entailment, label


def said(text: str) -> Said:
    words = text.replace("not all", "not-all").split()
    old, denied = "old" in words, "do" in words
    return Said(words[0].replace("-", " "), old, words[1 + old], denied, words[-1])


@pytest.mark.parametrize(
    ("premise", "hypothesis", "wanted"),
    [
        ("all dogs run", "some animals move", "entails"),
        ("all animals move", "all dogs move", "entails"),
        ("some dogs run", "some dogs do not run", "neutral"),
        ("all dogs run", "all animals run", "neutral"),
        ("no animals move", "some old dogs run", "contradicts"),
        ("no old dogs run", "some dogs run", "neutral"),
        ("not all dogs run", "some dogs do not run", "entails"),
        ("some dogs do not move", "not all animals run", "entails"),
        ("all dogs run", "no cats run", "neutral"),
        ("all dogs run", "no dogs sing", "neutral"),
        ("all old dogs run", "not all dogs run", "neutral"),
    ],
)
def test_labels_by_hand(premise: str, hypothesis: str, wanted: str) -> None:
    assert str(said(premise)) == premise and label(said(premise), said(hypothesis)) == wanted


def true(one: Said, world: tuple[tuple[str, bool, frozenset[str]], ...]) -> bool | None:
    """Whether a sentence holds of creatures (kind, old, what they do); None where none of them is meant."""
    groups = {**KINDS, "animals": KINDS["birds"] + KINDS["pets"]}
    does = [
        (one.verb in acts) != one.denied
        for kind, old, acts in world
        if kind in groups.get(one.noun, (one.noun,)) and (old or not one.old)
    ]
    if not does:
        return None
    return {"all": all(does), "some": any(does), "no": not any(does), "not all": not all(does)}[one.quantifier]


def by_worlds(one: Said, other: Said) -> str:
    """The label over worlds of up to four: a witness for each sentence and one of each noun are enough."""
    groups = {**KINDS, "animals": ("crows", "dogs", "cats")}
    kinds = {kind for said in (one, other) for kind in (*groups.get(said.noun, ()), said.noun) if kind not in groups}
    above = {verb: top for top, own in ACTS.items() for verb in own}
    acts = set[frozenset[str]]()
    for some in product((True, False), repeat=2):
        chosen = {verb for verb, does in zip((one.verb, other.verb), some, strict=True) if does}
        acts.add(frozenset(chosen | {above[verb] for verb in chosen if verb in above}))
    every = list(product(sorted(kinds), {one.old, other.old, True, False}, sorted(acts, key=sorted)))
    truths = set[bool]()
    for count in (1, 2, 3, 4):
        for world in combinations_with_replacement(every, count):
            if true(one, world) and (found := true(other, world)) is not None:
                truths.add(found)
        if len(truths) == 2:
            return "neutral"
    return "entails" if truths == {True} else "contradicts"


def test_labels_by_worlds() -> None:
    draw = random.Random(5)
    for one, other in (drawn(draw) for _ in range(60)):
        assert label(one, other) == by_worlds(one, other), f"{one} ||| {other}"


def test_parts_are_apart_and_labels_balanced() -> None:
    made = entailment(1)
    assert {name: len(own) for name, own in made.items()} == SIZES
    pairs = [row[:2] for own in made.values() for row in own]
    assert len(set(pairs)) == len(pairs)
    for own in made.values():
        counts = Counter(row[-1] for row in own)
        assert len(counts) == 3 and max(counts.values()) - min(counts.values()) <= 1
    for premise, hypothesis, wanted in made["test"]:
        assert label(said(premise), said(hypothesis)) == wanted
