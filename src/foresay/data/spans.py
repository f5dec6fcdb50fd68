"""Spans written as tags, one for each word, and back.

    bio     O  B-x begins a span of type x, I-x goes on with it
    bioes   the same, and E-x ends one of several words, S-x is one of a single word

    The soldier was killed in North   Waziristan         bio: O O O O O B-location I-location

Tags of any kind can be read: a span begins where the tag before cannot be gone on from (I-x after O, or after another
type), as conlleval and seqeval have it. Written again they follow the scheme, so that writing is both repair and
conversion.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

Scheme = Literal["none", "bio", "bioes"]
OUTSIDE = "O"
PREFIXES: dict[str, str] = {"none": "", "bio": "BI", "bioes": "BIES"}
_SPELT = re.compile(r"[BIES]-.+")
_BILOU = re.compile(r"[BILU]-.+")


def is_span(tag: str) -> bool:
    """Whether a tag is O or spelt as one of a span: B-x, I-x, E-x, S-x."""
    return tag == OUTSIDE or _SPELT.fullmatch(tag) is not None


class Span(NamedTuple):
    """Words `begin` to `end` (not included) are a `type`."""

    type: str
    begin: int
    end: int


def scheme_of(tags: Iterable[str]) -> Scheme:
    """How a set of tags writes spans; `none` where they are no spans."""
    spelt = {tag for tag in tags if tag != OUTSIDE}
    if not spelt or not all(map(_SPELT.fullmatch, spelt)):
        return "none"
    return "bioes" if any(tag[0] in "ES" for tag in spelt) else "bio"


def odd_among(tags: Iterable[str]) -> set[str]:
    """The tags that are not spelt as those of spans, where most of a set are; else none."""
    given = set(tags)
    odd = {tag for tag in given if not is_span(tag)}
    return odd if len(odd) < len(given) - len(odd) and given - odd - {OUTSIDE} else set()


def is_bilou(tags: Iterable[str]) -> bool:
    """Whether a set writes spans as BIOES does, but L-x for E-x and U-x for S-x."""
    spelt = {tag for tag in tags if tag != OUTSIDE}
    return all(map(_BILOU.fullmatch, spelt)) and any(tag[0] in "LU" for tag in spelt)


def spans_of(tags: Sequence[str]) -> list[Span]:
    """The spans of a sentence, in order."""
    found: list[Span] = []
    before, open_type, begin = OUTSIDE, "", 0
    for place, tag in enumerate([*tags, OUTSIDE]):
        letter, own = tag[0], tag[2:]
        goes_on = letter in "IE" and before in "BI" and own == open_type
        if before != OUTSIDE and not goes_on:
            found.append(Span(open_type, begin, place))
        if not goes_on:
            open_type, begin = own, place
        before = letter
    return found


def written(spans: Iterable[Span], length: int, scheme: Scheme) -> list[str]:
    """The tags of a sentence of so many words; spans do not overlap."""
    tags = [OUTSIDE] * length
    for kind, begin, end in spans:
        letters = ["B", *"I" * (end - begin - 1)]
        if scheme == "bioes":
            letters[-1] = "S" if len(letters) == 1 else "E"
        tags[begin:end] = [f"{letter}-{kind}" for letter in letters]
    return tags


def rewritten(tags: Sequence[str], scheme: Scheme) -> list[str]:
    """The same spans in a scheme: mends what breaks it, and turns one scheme into another."""
    return list(tags) if scheme == "none" else written(spans_of(tags), len(tags), scheme)


def follows(before: str, after: str, scheme: Scheme) -> bool:
    """Whether a tag may stand after another; O stands for the beginning and for the end of a sentence."""
    if scheme == "none":
        return True
    inside, goes_on = before[0] in "BI", after[0] in "IE"
    if goes_on:
        return inside and before[2:] == after[2:]
    return scheme == "bio" or not inside


def first_broken(tags: Sequence[str], scheme: Scheme) -> int | None:
    """The first word whose tag breaks the scheme; None where all is well."""
    return next(broken(tags, scheme), None)


def broken(tags: Sequence[str], scheme: Scheme) -> Iterator[int]:
    """The words whose tag the scheme does not allow after the one before it, in order.

    A span of `bioes` that is not ended is broken at its last word, which may be broken by the one before it too.
    """
    for place, (before, tag) in enumerate(itertools.pairwise([OUTSIDE, *tags, OUTSIDE])):
        if not follows(before, tag, scheme):
            yield place if tag[0] in "IE" else place - 1


def closed(tags: Iterable[str], scheme: Scheme) -> list[str]:
    """A set of tags, sorted; of spans every tag that its types can have, O first."""
    if scheme == "none":
        return sorted(set(tags))
    types = sorted({tag[2:] for tag in tags if tag != OUTSIDE})
    return [OUTSIDE, *(f"{letter}-{kind}" for kind in types for letter in PREFIXES[scheme])]
