"""What the readers of claim `both-ways` are asked: made sentences with tags, made texts with labels, tags of UD EWT.

    then answer the letter , they walk again        answer: a verb by what follows; walk: one by what precedes
    now answer was late , the walk again            answer, walk: nouns
    key_3 ... 10 to 40 words ... or ... key_3       the label is that of the key word at the beginning or at the end

Words of the two kinds stand in the same places equally often, so that one who sees only what precedes is right on three
quarters of them at most.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import dataclass

import numpy as np

from foresay.data.builtin import known_tags
from foresay.data.source import Reading, Source
from foresay.data.tag_files import TagText
from foresay.text.tokens import SPECIALS, UNK

EITHER = ("answer", "walk", "talk", "visit", "plan", "call", "dance", "drink", "fight", "hope", "offer", "rest")
FRAMES = (  # words and tags of a clause: the first two are told apart by what follows, the others by what precedes
    ("then|now|later|perhaps _ the|a letter|door", "ADV VERB DET NOUN"),
    ("then|now|later|perhaps _ was|is late|good", "ADV NOUN AUX ADJ"),
    ("they|we _ again|alone|there", "PRON VERB ADV"),
    ("the|a _ again|alone|there", "DET NOUN ADV"),
)
CLAUSES = 3
TAGS = tuple(sorted({tag for _, tags in FRAMES for tag in tags.split()} | {"PUNCT"}))
WORDS = sorted({word for frame, _ in FRAMES for word in frame.replace("|", " ").split()} - {"_"} | {*EITHER, ","})
IDS = {word: number for number, word in enumerate(WORDS, len(SPECIALS))}
LABELS, KEYS, FILLERS = 8, 3, 30  # labels, key words of each, and other words
SHORTEST, LONGEST = 10, 40  # words of a text
UD, MOST = "ud-english-ewt", 40  # and the words of a sentence of it


@dataclass(frozen=True)
class Row:
    """Ids of words (T,); their tags (T,) or the text's label (); which are asked for (T,), or where the key word is."""

    ids: np.ndarray
    targets: np.ndarray
    asked: np.ndarray


def tagged(chance: random.Random) -> Row:
    """A made sentence; asked for are the words that may be either."""
    words: list[str] = []
    tags: list[str] = []
    for clause in range(CLAUSES):
        frame, own = chance.choice(FRAMES)
        chosen = [chance.choice(EITHER if one == "_" else one.split("|")) for one in frame.split()]
        words += [","] * (clause > 0) + chosen
        tags += ["PUNCT"] * (clause > 0) + own.split()
    asked = np.array([word in EITHER for word in words])
    return Row(np.array([IDS[word] for word in words]), np.array([TAGS.index(tag) for tag in tags]), asked)


def labelled(chance: random.Random) -> Row:
    """A made text; `asked` is 0 where the key word begins it, 1 where it ends it."""
    label, end, length = chance.randrange(LABELS), chance.randrange(2), chance.randint(SHORTEST, LONGEST)
    ids = [len(SPECIALS) + chance.randrange(FILLERS) for _ in range(length)]
    ids[-end] = len(SPECIALS) + FILLERS + label * KEYS + chance.randrange(KEYS)
    return Row(np.array(ids), np.array(label), np.array(end))


@dataclass(frozen=True)
class RealText:
    """Sentences of UD EWT, to learn and to be asked; words seen once are unknown."""

    vocabulary: int
    tags: tuple[str, ...]
    train: list[Row]
    valid: list[Row]


def real(train: int, valid: int) -> RealText:
    """The first sentences of each part; UserError where FORESAY_DATA has them not."""
    files = known_tags(UD)
    assert files is not None
    parts = []
    for part, many in (("train", train), ("valid", valid)):
        whole = TagText(Source(str(files[part]), files[part], read=Reading(format="text")), "columns", (1, 2))
        parts.append(list(itertools.islice((one for one in whole if len(one.words) <= MOST), many)))
    counts = Counter(word.lower() for one in parts[0] for word in one.words)
    ids = {word: len(SPECIALS) + n for n, word in enumerate(sorted(w for w, many in counts.items() if many > 1))}
    names = tuple(sorted({tag for own in parts for one in own for tag in one.tags}))
    rows = [
        [
            Row(
                np.array([ids.get(word.lower(), UNK) for word in one.words]),
                np.array([names.index(tag) for tag in one.tags]),
                np.ones(len(one.words), bool),
            )
            for one in own
        ]
        for own in parts
    ]
    return RealText(len(SPECIALS) + len(ids), names, rows[0], rows[1])
