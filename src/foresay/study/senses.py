"""Does a word have another vector where it is another kind of word? Layer by layer, from words with tags.

Looked at are words (in lower case) that stand with two tags or more, each often enough. Of every occurrence the nearest
one of the same word in another sentence, by cosine, is asked for its tag:

    nearest   % of occurrences whose nearest has the same tag
    chance    % that any other occurrence would give
    same      mean cosine of two occurrences with the same tag, over words; other: with different ones

A word's own vector (layer 0) knows no context: of one spelling `same` and `other` are 1 there.
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
from foresay.errors import UserError

MOST = 200  # occurrences of a word; of more the first


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
    same: float
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
    places = chosen(held, tags, least)
    if not places:
        among = f"of the tags {', '.join(tags)}" if tags else "of its tags"
        raise UserError(f"no word stands {least} times with each of two {among}; give more text, or a smaller --least")
    vectors: dict[int, list[Tensor]] = {}
    left_out = set()
    for number in sorted({n for found in places.values() for n, _ in found}):
        one = run.embed(" ".join(held[number].words))[0]
        if len(one.tokens) == len(held[number].words):
            vectors[number] = one.layers
        else:
            left_out.add(number)
    words = [occurrences(word, found, held, vectors) for word, found in sorted(places.items())]
    words = [one for one in words if enough(one.tags, least)]
    if not words:
        raise UserError("the run's tokens cut these words otherwise; give a run whose tokens are words between blanks")
    layers = [told(words, layer) for layer in range(len(words[0].layers))]
    return Senses(words, layers, len(left_out))


def chosen(sentences: Sequence[Tagged], tags: Sequence[str] | None, least: int) -> dict[str, list[tuple[int, int]]]:
    """Sentence and place of each occurrence of the words to look at."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, sentence in enumerate(sentences):
        for place, (word, tag) in enumerate(zip(sentence.words, sentence.tags, strict=True)):
            if tags is None or tag in tags:
                found[word.lower()].append((number, place))
    cut = {word: places[:MOST] for word, places in found.items()}
    return {word: places for word, places in cut.items() if enough([sentences[n].tags[at] for n, at in places], least)}


def enough(tags: Sequence[str], least: int) -> bool:
    """Whether two tags or more stand there `least` times."""
    return sum(tags.count(tag) >= least for tag in set(tags)) > 1


def occurrences(
    word: str, places: Sequence[tuple[int, int]], sentences: Sequence[Tagged], vectors: dict[int, list[Tensor]]
) -> Occurrences:
    kept = [(n, at) for n, at in places if n in vectors]
    layers = [torch.stack(rows) for rows in zip(*([h[at] for h in vectors[n]] for n, at in kept), strict=True)]
    return Occurrences(word, [sentences[n].tags[at] for n, at in kept], [n for n, _ in kept], layers)


def told(words: Sequence[Occurrences], layer: int) -> Layer:
    right, chance, total, same, other, by_word = 0.0, 0.0, 0, [], [], {}
    for one in words:
        cosines = cosine_of_all(one.layers[layer])
        numbers = {tag: number for number, tag in enumerate(dict.fromkeys(one.tags))}
        tags, sentences = torch.tensor([numbers[tag] for tag in one.tags]), torch.tensor(one.sentences)
        alike, apart = tags[:, None] == tags, sentences[:, None] != sentences
        asked = apart.any(1)
        nearest = cosines.masked_fill(~apart, -2.0).argmax(1)
        hits = alike[torch.arange(len(tags)), nearest][asked]
        by_word[one.word] = 100 * float(hits.double().mean())
        right, total = right + float(hits.sum()), total + len(hits)
        chance += float(((alike & apart).sum(1) / apart.sum(1).clamp(min=1))[asked].sum())
        same.append(float(cosines[alike & apart].mean()))
        other.append(float(cosines[~alike & apart].mean()))
    return Layer(100 * right / total, 100 * chance / total, average(same), average(other), by_word)


def cosine_of_all(x: Tensor) -> Tensor:
    """(N, D) -> (N, N)."""
    unit = F.normalize(x.double(), dim=1)
    return unit @ unit.T


def average(numbers: Sequence[float]) -> float:
    """Over what is a number: a word may have no pair of a kind in two sentences."""
    real = [number for number in numbers if number == number]
    return sum(real) / max(len(real), 1)
