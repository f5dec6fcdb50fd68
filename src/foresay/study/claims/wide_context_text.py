"""Texts of the claim on wide context: rows of ids, and in the held-out ones the places of the words that need it.

    open_3 f f f f f f f then close_3        K kinds; 4 to 10 other words f between, drawn evenly; `then` says where

`close` is asked for 5 to 11 words after `open` tells which it is, so that of the last four words none does: who sees no
more can only guess among K. In the built-in text a word is far when it stood before in its paragraph and none of the
last four is it; unknown words are not.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from foresay.study.claims.words_text import built_in
from foresay.text.tokens import SPECIALS, STOP

MADE, REAL = "made language", "built-in text"
KINDS, FILLERS, SHORTEST, LONGEST = 8, 10, 4, 10
SEEN = 4  # words that the n-gram and the window see
MOST = 48  # words of a row of the built-in text
OPEN, CLOSE, FILL, THEN = ("open_{}", "close_{}", "f_{}", "then")
WORDS = [*SPECIALS, *(OPEN.format(n) for n in range(KINDS)), *(CLOSE.format(n) for n in range(KINDS))]
WORDS += [*(FILL.format(n) for n in range(FILLERS)), THEN]
IDS = {word: number for number, word in enumerate(WORDS)}


@dataclass(frozen=True)
class Corpus:
    """Rows of ids without <stop>, to learn and held out, and of the latter the places of the far words."""

    words: list[str]
    learnt: list[list[int]]
    held_out: list[list[int]]
    far: list[list[int]]


def made(seed: int, sentences: int, asked: int) -> Corpus:
    chance = random.Random(seed)
    rows = [sentence(chance) for _ in range(sentences + asked)]
    held_out = rows[sentences:]
    return Corpus(WORDS, rows[:sentences], held_out, [[len(row) - 1] for row in held_out])


def sentence(chance: random.Random) -> list[int]:
    kind, between = chance.randrange(KINDS), chance.randint(SHORTEST, LONGEST)
    fillers = [FILL.format(chance.randrange(FILLERS)) for _ in range(between)]
    return [IDS[word] for word in (OPEN.format(kind), *fillers, THEN, CLOSE.format(kind))]


def built(seed: int) -> Corpus:
    """Paragraphs of the built-in text, cut at MOST words."""
    learnt, held_out = built_in(seed)
    parts = [[row[:MOST] for row in rows_of(text.ids.tolist())] for text in (learnt, held_out)]
    return Corpus(learnt.words, parts[0], parts[1], [far_places(row) for row in parts[1]])


def rows_of(ids: Sequence[int]) -> list[list[int]]:
    """Documents, each without the <stop> after it."""
    rows: list[list[int]] = [[]]
    for one in ids:
        if one == STOP:
            rows.append([])
        else:
            rows[-1].append(one)
    return [row for row in rows if row]


def far_places(row: Sequence[int]) -> list[int]:
    """Where a known word stands that came before, but is none of the last four."""
    return [
        place
        for place, word in enumerate(row)
        if word >= len(SPECIALS)
        and word in row[: max(place - SEEN, 0)]
        and word not in row[max(place - SEEN, 0) : place]
    ]
