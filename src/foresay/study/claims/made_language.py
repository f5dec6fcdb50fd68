"""A language made by a seed, for claims on what text without labels teaches; and a bidirectional model that reads it.

    vodi lives in lamu          vodi is a person, lamu a place; nothing in their spelling tells which
    they spoke of lamu          nor does this sentence: who tags `lamu` here must know the word
    the bako was zeti and nufe , i liked it        zeti and nufe praise; others blame, and are hated
    the tigos was risu          a noun and its plural stand in the same places: its last letter tells

`text` has no labels and all words. Labelled sentences, to learn from, are few, and have a part of the words.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from foresay.start import train
from foresay.train.progress import Watch

CONSONANTS, VOWELS = "bdfgklmnprtvz", "aeiou"
KINDS = {"person": 30, "place": 30, "noun": 30, "praise": 24, "blame": 24}
NAMES = {"person": ("_ lives in @", "we met _ near the #", "_ ! the # of @", "my friend _ asked"),
         "place": ("we went to _ by #", "the road to _ is long", "it rained in _ all day", "@ moved to _")}  # fmt: skip
EITHER = ("they spoke of _", "i like _ a lot", "_ is on the list", "what about _ ?")
SAID = {"praise": ("i liked it", "see it again"), "blame": ("i hated it", "stay away")}
REVIEW = "the # was _ and _"
SENTENCES = 3000  # without labels
Sentence = list[tuple[str, str]]  # words and what each is
BY_LETTERS = {"kind": "characters", "letters": 8, "kernels": [[2, 32], [3, 32], [4, 64]], "longest": 12}


class Language:
    """Words of each kind, drawn by a seed, and sentences with them."""

    def __init__(self, seed: int):
        self.draw = random.Random(f"made language {seed}")
        stems: dict[str, None] = {}
        while len(stems) < sum(KINDS.values()):
            letters = (self.draw.choice(of) for of in (CONSONANTS, VOWELS) * 2)
            stems["".join(letters)] = None
        left = iter(stems)
        self.words = {kind: [next(left) for _ in range(many)] for kind, many in KINDS.items()}

    def known(self, kind: str, share: float) -> list[str]:
        """The words that labelled sentences may have: the first so many."""
        return self.words[kind][: round(share * KINDS[kind])]

    def text(self, many: int) -> list[str]:
        """Sentences of every kind, without labels."""
        found = []
        for _ in range(many):
            if self.draw.random() < 0.5:
                found.append(" ".join(word for word, _ in self.naming(1.0, alone=0.3)))
            else:
                review, kind = self.review(1.0)
                found.append(f"{review} , {self.draw.choice(SAID[kind])}")
        return found

    def naming(self, share: float, *, alone: float) -> Sentence:
        """A sentence with a name, which `alone` of them tell by nothing but the word."""
        kind = self.draw.choice(list(NAMES))
        frame = self.draw.choice(EITHER if self.draw.random() < alone else NAMES[kind])
        return [(self._filled(word, kind, share), kinds(word, kind)) for word in frame.split()]

    def review(self, share: float) -> tuple[str, str]:
        """Two words of praise, or two of blame; and which."""
        kind = self.draw.choice(list(SAID))
        return " ".join(self._filled(word, kind, share) for word in REVIEW.split()), kind

    def noun(self) -> str:
        """A noun, one or many."""
        return self.draw.choice(self.words["noun"]) + self.draw.choice(["", "s"])

    def _filled(self, word: str, kind: str, share: float) -> str:
        if word == "#":
            return self.noun()
        if word == "@":
            return self.draw.choice(self.known("person" if kind == "place" else "place", share))
        return self.draw.choice(self.known(kind, share)) if word == "_" else word


def kinds(word: str, kind: str) -> str:
    """The tag of a word of a frame whose slot is of a kind."""
    return kind if word == "_" else ("person" if kind == "place" else "place") if word == "@" else "other"


def learn_bilm(folder: Path, language: Language, seed: int, steps: int, width: int) -> Path:
    """A run of task bilm that reads words by their letters, over sentences without labels."""
    (folder / "text.txt").write_text("\n".join(language.text(SENTENCES)) + "\n")
    recipe = {
        "task": "bilm",
        "data": {"train": str(folder / "text.txt"), "unit": "line"},
        "tokens": "blanks",
        "embedding": {"kind": "normed", "of": BY_LETTERS | {"size": width}},
        "encoder": {"kind": "recurrent", "layers": 2, "size": width, "between": {"wiring": "fed"}},
        "train": settings(steps, {"kind": "packed", "rows": 16, "length": 48, "across": True}),
        "seed": seed,
    }
    return train(recipe, out=folder / "bilm", device="cpu", watch=Watch()).folder


def settings(steps: int, batches: dict[str, Any]) -> dict[str, Any]:
    """How a small model learns: one evaluation, at the end."""
    schedule = {"kind": "cosine", "warmup": 10, "floor": 0.02}
    return {
        "steps": steps,
        "batches": batches,
        "optimizer": {"kind": "adamw", "lr": 0.01, "schedule": schedule},
        "clip": 1.0,
        "evaluate": {"every": steps},
        "save": {"every": steps},
    }


def columns(sentences: Sequence[Sentence]) -> str:
    """Sentences as a file of words and tags."""
    return "\n".join("".join(f"{word}\t{tag}\n" for word, tag in one) for one in sentences)
