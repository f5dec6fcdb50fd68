"""Does a word have another vector where it is another kind of word? Layer by layer, from words with tags.

Looked at are words (in lower case) that stand in two sentences or more and with two tags or more, each often enough;
rarer tags of theirs are left out. Of every occurrence the nearest one of the same word in another sentence, by cosine,
is asked for its tag:

    nearest   % of occurrences whose nearest has the same tag; of several as near, the share that has
    chance    % that any other occurrence would give
    same      mean cosine of two occurrences with the same tag, over words; other: with different ones

A word's own vector (layer 0) knows no context: of one spelling `same` and `other` are 1 there, and all are as near.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from foresay.data.tag_files import Tagged
from foresay.errors import UserError, nearest

MOST = 200  # occurrences of a word with one tag; of more the first
BLOCK = 1024  # sentences whose vectors are held at a time
AS_NEAR = 1e-6  # cosines that differ by no more are the same: rounding tells nothing of a word

Place = tuple[int, int]  # sentence, and place in it


@dataclass(frozen=True)
class Occurrences:
    """Of one word: its tag and its sentence each time, and its vectors (N, width) of every layer."""

    word: str
    tags: list[str]
    sentences: list[int]
    layers: list[Tensor]


@dataclass(frozen=True)
class Layer:
    """What a layer tells of the tags."""

    nearest: float
    chance: float
    same: float | None  # where no tag stands in two sentences
    other: float
    by_word: dict[str, float]  # nearest, of each word


@dataclass(frozen=True)
class Senses:
    """The words that were looked at, and what each layer tells."""

    words: list[Occurrences]
    layers: list[Layer]
    left_out: int  # sentences whose words the run's tokens cut otherwise

    def as_dict(self) -> dict[str, Any]:
        return {
            "words": {one.word: {tag: one.tags.count(tag) for tag in sorted(set(one.tags))} for one in self.words},
            "occurrences": sum(len(one.tags) for one in self.words),
            "left_out": self.left_out,
            "layers": [asdict(layer) for layer in self.layers],
        }


def senses(run: Any, sentences: Iterable[Tagged], *, tags: Sequence[str] | None = None, least: int = 3) -> Senses:
    """Of words with at least two tags (of those given, or of all), each `least` times."""
    held = list(sentences)
    check_tags(held, tags)
    often = frequent(places_of(held, tags), held, least)
    if not often:
        among = f"of the tags {', '.join(tags)}" if tags else "of its tags"
        raise UserError(f"no word stands {least} times with each of two {among}; give more text, or a smaller --least")
    places = in_several(often)
    if not places:
        raise UserError(
            "no word with two tags stands in two sentences, and those of one are not compared; give more text, with a "
            "blank line after each sentence"
        )
    vectors, left_out = read(run, held, places)
    whole = {word: [place for place in found if place in vectors] for word, found in places.items()}
    words = [
        Occurrences(
            word,
            [held[n].tags[at] for n, at in found],
            [n for n, _ in found],
            [torch.stack(rows) for rows in zip(*(vectors[place] for place in found), strict=True)],
        )
        for word, found in sorted(in_several(frequent(whole, held, least)).items())
    ]
    if not words:
        raise UserError("the run's tokens cut these words otherwise; give a run whose tokens are words between blanks")
    layers = [told(words, layer) for layer in range(len(words[0].layers))]
    return Senses(words, layers, left_out)


def check_tags(sentences: Sequence[Tagged], tags: Sequence[str] | None) -> None:
    """Refuses a text without words, and tags that it does not have."""
    there = {tag for one in sentences for tag in one.tags}
    if not there:
        raise UserError("the text has no words; give lines with a word and its tag")
    if tags is None:
        return
    for tag in tags:
        if tag not in there:
            names = sorted(there)
            allowed = ", ".join(names[:30]) + (f", ... ({len(names)})" if len(names) > 30 else "")
            raise UserError(
                f"--tags {','.join(tags)}: no word has the tag {tag}; allowed: {allowed}{nearest(tag, there)}"
            )
    if len(set(tags)) < 2:
        raise UserError(f"--tags {','.join(tags)}; allowed: two or more, for words of two kinds are looked at")


def places_of(sentences: Sequence[Tagged], tags: Sequence[str] | None) -> dict[str, list[Place]]:
    """Where each word stands with one of the tags."""
    found: dict[str, list[Place]] = defaultdict(list)
    for number, sentence in enumerate(sentences):
        for place, (word, tag) in enumerate(zip(sentence.words, sentence.tags, strict=True)):
            if tags is None or tag in tags:
                found[word.lower()].append((number, place))
    return found


def frequent(places: dict[str, list[Place]], sentences: Sequence[Tagged], least: int) -> dict[str, list[Place]]:
    """The words with two tags or more that stand `least` times, and where they stand with these: the first of each."""
    kept: dict[str, list[Place]] = {}
    for word, found in places.items():
        by_tag: dict[str, list[Place]] = defaultdict(list)
        for number, at in found:
            by_tag[sentences[number].tags[at]].append((number, at))
        often = [some[: max(MOST, least)] for some in by_tag.values() if len(some) >= least]
        if len(often) > 1:
            kept[word] = sorted(place for some in often for place in some)
    return kept


def in_several(places: dict[str, list[Place]]) -> dict[str, list[Place]]:
    """The words that stand in two sentences or more."""
    return {word: found for word, found in places.items() if len({number for number, _ in found}) > 1}


def read(
    run: Any, sentences: Sequence[Tagged], places: dict[str, list[Place]]
) -> tuple[dict[Place, list[Tensor]], int]:
    """Each place's vectors, and how many sentences were left out because the run's tokens cut them otherwise."""
    wanted: dict[int, list[int]] = defaultdict(list)
    for number, at in (place for found in places.values() for place in found):
        wanted[number].append(at)
    numbers, vectors, left_out = sorted(wanted), dict[Place, list[Tensor]](), 0
    for first in range(0, len(numbers), BLOCK):
        some = numbers[first : first + BLOCK]
        for number, one in zip(some, run.embed([" ".join(sentences[n].words) for n in some]), strict=True):
            if len(one.tokens) != len(sentences[number].words):
                left_out += 1
                continue
            vectors |= {(number, at): [h[at].clone() for h in one.layers] for at in wanted[number]}
    return vectors, left_out


def told(words: Sequence[Occurrences], layer: int) -> Layer:
    right, chance, total, same, other, by_word = 0.0, 0.0, 0, [], [], {}
    for one in words:
        cosines = cosine_of_all(one.layers[layer])
        numbers = {tag: number for number, tag in enumerate(dict.fromkeys(one.tags))}
        tags, sentences = torch.tensor([numbers[tag] for tag in one.tags]), torch.tensor(one.sentences)
        alike, apart = tags[:, None] == tags, sentences[:, None] != sentences  # each has one that is apart
        near = cosines.masked_fill(~apart, -2.0)
        hits = share(alike, near >= near.amax(1, keepdim=True) - AS_NEAR)
        by_word[one.word] = 100 * float(hits.mean())
        right, total = right + float(hits.sum()), total + len(hits)
        chance += float(share(alike, apart).sum())
        same += [float(cosines[alike & apart].mean())] if (alike & apart).any() else []
        other.append(float(cosines[~alike & apart].mean()))
    average = sum(same) / len(same) if same else None
    return Layer(100 * right / total, 100 * chance / total, average, sum(other) / len(other), by_word)


def share(alike: Tensor, among: Tensor) -> Tensor:
    """How many of a row's places in `among` (N, N) are alike: (N,)"""
    return (alike & among).sum(1).double() / among.sum(1)


def cosine_of_all(x: Tensor) -> Tensor:
    """(N, D) -> (N, N)."""
    unit = F.normalize(x.double(), dim=1)
    return unit @ unit.T
