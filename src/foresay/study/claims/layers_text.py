"""Tagged sentences for the claim on layers: made ones with part of speech, chunk and topic, and those of UD EWT.

    this old sail  must  guard  every seed  near   harbour  and  ...        topic: sea
    DET  ADJ NOUN  AUX   VERB   DET   NOUN  PREP   NOUN     CONJ
    B-NP I-NP I-NP B-VP  I-VP   B-NP  I-NP  B-PP   B-NP     O

Most words of a topic are nouns and verbs alike, so a word does not tell its part of speech; a noun or verb is of the
sentence's topic in nine of ten cases, else of any, so a word does not tell the topic either.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from foresay.data.builtin import known_tags
from foresay.data.source import Reading, Source
from foresay.data.tag_files import CONLLU, TagText
from foresay.errors import UserError
from foresay.text.tokens import SPECIALS, UNK

EWT = "ud-english-ewt"
TOPICS = {  # both, nouns alone, verbs alone
    "sea": ("fish sail anchor dock wave ship", "sailor harbour", "drift sink"),
    "kitchen": ("cook butter salt pepper toast spice", "kettle spoon", "bake chew"),
    "garden": ("plant seed rake water weed flower", "hedge lawn", "dig grow"),
    "army": ("guard attack march fire shell shield", "soldier fort", "fight defend"),
}
CLOSED = {
    "DET": "the a this every",
    "ADJ": "old small new dark",
    "AUX": "can must will",
    "PREP": "near behind with",
    "ADV": "often slowly again",
    "PRON": "they we",
    "CONJ": "and",
}
POS = [*CLOSED, "NOUN", "VERB"]
CHUNKS = ["B-NP", "I-NP", "B-VP", "I-VP", "B-PP", "B-ADVP", "O"]
OPEN = {
    "NOUN": {topic: f"{both} {noun}".split() for topic, (both, noun, _) in TOPICS.items()},
    "VERB": {topic: f"{both} {verb}".split() for topic, (both, _, verb) in TOPICS.items()},
}
WORDS = [*SPECIALS, *" ".join([*CLOSED.values(), *(" ".join(own) for own in TOPICS.values())]).split()]
OWN = 0.9  # the share of nouns and verbs that are of the sentence's topic


@dataclass(frozen=True)
class Tagged:
    """Ids of a sentence, and by what is asked for a label of each word."""

    ids: list[int]
    labels: dict[str, list[int]]


def made(chance: random.Random) -> Tagged:
    """Two clauses joined by `and`."""
    topic = chance.choice([*TOPICS])
    clauses = [*clause(chance), ("CONJ", "O"), *clause(chance)]
    words = [word_of(chance, tag, topic) for tag, _ in clauses]
    labels = {
        "part of speech": [POS.index(tag) for tag, _ in clauses],
        "chunk": [CHUNKS.index(chunk) for _, chunk in clauses],
        "topic": [[*TOPICS].index(topic)] * len(words),
    }
    return Tagged([WORDS.index(word) for word in words], labels)


def clause(chance: random.Random) -> list[tuple[str, str]]:
    """Part of speech and chunk of each word: a noun phrase, a verb, and what may follow."""
    found = noun_phrase(chance)
    found += [("AUX", "B-VP"), ("VERB", "I-VP")] if chance.random() < 0.5 else [("VERB", "B-VP")]
    found += noun_phrase(chance) if chance.random() < 0.7 else []
    found += [("ADV", "B-ADVP")] if chance.random() < 0.3 else []
    return found + ([("PREP", "B-PP"), *noun_phrase(chance)] if chance.random() < 0.5 else [])


def noun_phrase(chance: random.Random) -> list[tuple[str, str]]:
    if chance.random() < 0.15:
        return [("PRON", "B-NP")]
    tags = ["DET"] * (chance.random() < 0.6) + ["ADJ"] * (chance.random() < 0.4) + ["NOUN"]
    return [(tag, "I-NP" if place else "B-NP") for place, tag in enumerate(tags)]


def word_of(chance: random.Random, tag: str, topic: str) -> str:
    if tag in CLOSED:
        return chance.choice(CLOSED[tag].split())
    return chance.choice(OPEN[tag][topic if chance.random() < OWN else chance.choice([*TOPICS])])


@dataclass(frozen=True)
class Treebank:
    """Sentences to learn from, others to probe, and how many words and tags there are."""

    train: list[Tagged]
    test: list[Tagged]
    words: int
    tags: int


def treebank(most: int, longest: int = 30) -> Treebank | None:
    """UD EWT under FORESAY_DATA by its `most` frequent words in lower case, sentences cut; None where it is not."""
    try:
        files = known_tags(EWT)
    except UserError:
        return None
    assert files is not None
    train, test = ([(one.words, one.tags) for one in read(files[part])] for part in ("train", "test"))
    counts = Counter(word.lower() for words, _ in train for word in words)
    ids = {word: number for number, (word, _) in enumerate(counts.most_common(most), len(SPECIALS))}
    tags = sorted({tag for _, own in train + test for tag in own})

    def numbered(rows: Sequence[tuple[list[str], list[str]]]) -> list[Tagged]:
        return [
            Tagged(
                [ids.get(word.lower(), UNK) for word in words[:longest]],
                {"part of speech": [tags.index(tag) for tag in own[:longest]]},
            )
            for words, own in rows
        ]

    return Treebank(numbered(train), numbered(test), len(SPECIALS) + len(ids), len(tags))


def read(path: Path) -> TagText:
    conllu = ".conllu" in path.suffixes
    source = Source(str(path), path, read=Reading(format="text"))
    return TagText(source, "conllu" if conllu else "columns", CONLLU if conllu else (1, 2))
