"""Rows of short sounds with pauses between them, drawn anew from a stock of each: strings of tones, of spoken digits.

    pause  word  pause  word  ...  pause       + noise, so many decibels below the sound

Each sound of the stock is `word -> samples`. A row is made when it is asked for, by its own seed, so that a long set
takes no memory and is the same each time. With a word to be found, every second row has it, once, at a place drawn
evenly.

melodies    three to six notes of a quarter of a second at 4,000 Hz, do to la from 523 Hz, each a sine, a square or a
            plucked one (tones.py) of some loudness and up to 1 % out of tune. What follows what is drawn: a note is
            followed by the next of the six with probability 0.6, the one after it 0.3, the third 0.1 (in a circle), so
            that a language model has something to know. Train, valid and test have notes of their own.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from foresay.data.tones import FADE, RATE, SAMPLES, wave
from foresay.errors import UserError, nearest

PARTS = ("train", "valid", "test")
FOLLOWS = (0.6, 0.3, 0.1)
NOTES = {"do": 523.25, "re": 587.33, "mi": 659.26, "fa": 698.46, "sol": 783.99, "la": 880.0}  # Hz
PLAYED = ("sine", "square", "pluck")
MELODIES = {"train": 1_000, "valid": 120, "test": 240}
STOCK = {"train": 60, "valid": 20, "test": 20}  # of each note
TEXTS = 5_000  # of the same grammar, for a language model
Row = tuple[np.ndarray, str]


@dataclass(frozen=True)
class Manner:
    """How rows are strung: how many words, seconds of pauses, decibels of the noise below the sound."""

    least: int
    most: int
    pauses: tuple[float, float]
    noise: float
    chain: tuple[float, ...] = ()  # P of the next words in their order; none: words are drawn evenly


TONES = Manner(3, 6, (0.02, 0.12), 0.0, FOLLOWS)
DIGITS = Manner(2, 5, (0.03, 0.25), 25.0)


@dataclass(frozen=True)
class Strung(Sequence[Row]):
    """So many rows: samples and their words with blanks between them."""

    stock: Mapping[str, Sequence[np.ndarray]]
    rate: int
    size: int
    seed: tuple[int, ...]
    manner: Manner
    word: str | None = None

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, number: int) -> Row:  # pyright: ignore[reportIncompatibleMethodOverride]
        if not 0 <= number < self.size:
            raise IndexError(number)
        draw = np.random.default_rng([*self.seed, number])
        words = drawn_words(draw, list(self.stock), self.manner)
        if self.word is not None:
            others = [one for one in self.stock if one != self.word]
            words = [str(one) for one in draw.choice(others, len(words))]
            if number % 2:
                words[draw.integers(len(words))] = self.word
        pieces = [self._pause(draw)]
        for word in words:
            own = self.stock[word]
            pieces += [own[int(draw.integers(len(own)))], self._pause(draw)]
        sound = np.concatenate(pieces)
        deviation = np.sqrt((sound**2).mean()) * 10 ** (-self.manner.noise / 20)
        return (sound + draw.normal(0, deviation, len(sound))).astype(np.float32), " ".join(words)

    def _pause(self, draw: np.random.Generator) -> np.ndarray:
        return np.zeros(round(draw.uniform(*self.manner.pauses) * self.rate), np.float32)


def drawn_words(draw: np.random.Generator, names: Sequence[str], manner: Manner) -> list[str]:
    """The words of a row."""
    count = int(draw.integers(manner.least, manner.most + 1))
    if not manner.chain:
        return [names[int(one)] for one in draw.integers(len(names), size=count)]
    at = [int(draw.integers(len(names)))]
    for _ in range(count - 1):
        at.append((at[-1] + 1 + int(draw.choice(len(manner.chain), p=manner.chain))) % len(names))
    return [names[one] for one in at]


def stock_of(rows: Sequence[Row]) -> dict[str, list[np.ndarray]]:
    """Sounds by their word."""
    found: dict[str, list[np.ndarray]] = {}
    for samples, word in rows:
        found.setdefault(word, []).append(samples)
    return found


def holding(row: Strung, word: str) -> Strung:
    """The same with longer rows, five to eight words drawn evenly, of which every second one has the word."""
    if word not in row.stock:
        allowed = list(row.stock)
        raise UserError(f"data.word={word!r}; allowed: {', '.join(allowed)}{nearest(word, allowed)}")
    return replace(row, word=word, manner=replace(row.manner, least=5, most=8, chain=()))


@functools.lru_cache(maxsize=2)
def melodies(seed: int) -> dict[str, Strung]:
    """Train, valid and test of a seed."""
    found = {}
    for number, name in enumerate(PARTS):
        draw = np.random.default_rng([seed, 90, number])
        stock = {note: [_played(draw, note) for _ in range(STOCK[name])] for note in NOTES}
        found[name] = Strung(stock, RATE, MELODIES[name], (seed, 91, number), TONES)
    return found


def _played(draw: np.random.Generator, note: str) -> np.ndarray:
    """A note once."""
    kind, loudness = PLAYED[draw.integers(len(PLAYED))], draw.uniform(0.2, 0.9)
    shape = wave(kind, NOTES[note] * draw.uniform(0.99, 1.01))
    shape[-FADE:] *= 1 - np.arange(1, FADE + 1) / FADE
    assert len(shape) == SAMPLES
    return (loudness * shape).astype(np.float32)


def melody_texts() -> bytes:
    """Lines of the melodies' grammar, drawn apart from any seed's melodies."""
    draw = np.random.default_rng(92)
    return "".join(" ".join(drawn_words(draw, list(NOTES), TONES)) + "\n" for _ in range(TEXTS)).encode()
