"""What is known about a vocabulary and its text: everything the report shows, before anyone judges it.

Shares are of the tokens of a part; unknown tokens count as tokens, <stop> does not. A symbol is rare when train has it
fewer than `RARE` times. A byte vocabulary holds all 256 bytes whether the text has them or not: they are its alphabet,
and only what was learnt beyond them can be learnt too rarely.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from foresay.data.pair_shards import PairShards
from foresay.data.prepare import Prepared
from foresay.data.shards import Shards
from foresay.study.vocabulary.counts import Zipf, by_rank, count, covering, text_tokens, zipf
from foresay.text.byte_spelling import show
from foresay.text.script import detect
from foresay.text.tokens import SPECIALS, UNK

RARE = 5  # below this word2vec drops a word: too few examples for a vector
COVERAGE = (50, 90, 95, 99)  # per cent of the train text
BYTES = frozenset(show(bytes([byte])) for byte in range(256))


@dataclass(frozen=True)
class Text:
    """One part of the corpus (train, valid or test) in the symbols of the vocabulary."""

    documents: int
    tokens: int
    bytes: int
    characters: int
    unknown: float
    rare: float

    @property
    def bytes_per_token(self) -> float:
        return self.bytes / max(self.tokens, 1)

    @property
    def characters_per_token(self) -> float:
        return self.characters / max(self.tokens, 1)

    @property
    def tokens_per_document(self) -> float:
        return self.tokens / max(self.documents, 1)

    def as_dict(self) -> dict[str, Any]:
        names = ("bytes_per_token", "characters_per_token", "tokens_per_document")
        return asdict(self) | {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Symbol:
    """A symbol with how often train has it."""

    symbol: str
    count: int
    share: float


@dataclass(frozen=True)
class Curves:
    """For the picture: falling counts, and the share of train and valid that the first k symbols cover, each (R,)."""

    f: np.ndarray
    train: np.ndarray
    valid: np.ndarray | None
    named: list[tuple[int, str]]  # rank 1, 10, 100, ... and the symbol there


@dataclass(frozen=True)
class About:
    """Where the text comes from and how it was prepared; of a prepared folder only the tokens are known."""

    name: str
    tokens: dict[str, Any]
    data: dict[str, Any] | None = None
    batches: str | None = None


@dataclass(frozen=True)
class Facts:
    """The numbers of the report."""

    about: About
    symbols: int  # V, the five marks included
    texts: dict[str, Text]
    never: int  # symbols that train does not have
    rare: int  # symbols that train has fewer than RARE times, those too
    alphabet: int  # symbols that are there whether the text has them or not: the bytes
    rare_learnt: int  # rare ones that are not of the alphabet
    once: float  # share of train tokens whose symbol stands there once
    one_byte: float | None  # share of train tokens that are single bytes; None: no byte vocabulary
    chinese: float  # share of the symbols that are Chinese characters or kana
    coverage: dict[int, int | None]  # per cent of train -> how many of the most frequent symbols
    zipf: Zipf | None
    frequent: list[Symbol]
    rarest: list[Symbol]
    curves: Curves

    @property
    def learnt(self) -> int:
        """The symbols that were chosen from the text."""
        return self.symbols - len(SPECIALS) - self.alphabet

    def as_dict(self) -> dict[str, Any]:
        """All numbers but the curves."""
        left_out = ("about", "texts", "curves", "coverage", "zipf", "frequent", "rarest")
        numbers = {name: value for name, value in vars(self).items() if name not in left_out}
        return {
            **asdict(self.about),
            **numbers,
            "texts": {name: text.as_dict() for name, text in self.texts.items()},
            "coverage": {str(percent): found for percent, found in self.coverage.items()},
            "zipf": asdict(self.zipf) if self.zipf else None,
            "frequent": [asdict(symbol) for symbol in self.frequent],
            "rarest": [asdict(symbol) for symbol in self.rarest],
        }


def measure(
    prepared: Prepared, about: About, top: int = 10, on_progress: Callable[[float], None] | None = None
) -> Facts:
    """Counts every part and works out the numbers; `top` symbols are named at both ends."""
    tell = on_progress or (lambda done: None)
    found = {"train": prepared.train, "valid": prepared.valid, "test": prepared.test}
    shards = {name: part for name, part in found.items() if part is not None}
    sides = {name: _sides(part, prepared) for name, part in shards.items()}
    counts = _count_all(sides, tell)
    train, order = counts["train"], by_rank(counts["train"])
    tokens, symbols = text_tokens(train), train[len(SPECIALS) :]
    pieces = prepared.tokens.pieces(range(len(prepared.tokens)))
    alphabet = np.array([piece in BYTES for piece in pieces])
    if alphabet.sum() < len(BYTES):
        alphabet[:] = False
    marks = np.arange(len(train)) < len(SPECIALS)
    rare = (train < RARE) & ~marks
    script = detect("".join(pieces[len(SPECIALS) :]))
    named = [Symbol(pieces[i], int(train[i]), int(train[i]) / tokens) for i in (*order[:top], *order[::-1][:top])]
    return Facts(
        about=about,
        symbols=len(train),
        texts={name: _text(own, counts[name], rare) for name, own in sides.items()},
        never=int((symbols == 0).sum()),
        rare=int(rare.sum()),
        alphabet=int(alphabet.sum()),
        rare_learnt=int((rare & ~alphabet).sum()),
        once=int((symbols == 1).sum()) / max(tokens, 1),
        one_byte=int(train[alphabet].sum()) / max(tokens, 1) if alphabet.any() else None,
        chinese=script.han + script.kana,
        coverage={percent: covering(train[order], tokens, percent) for percent in COVERAGE},
        zipf=zipf(train[order]),
        frequent=named[: len(named) // 2],
        rarest=named[len(named) // 2 :],
        curves=_curves(counts, order, pieces),
    )


def _sides(part: Shards, prepared: Prepared) -> list[Shards]:
    """A text; of pairs that have one vocabulary for both sides, both."""
    if isinstance(part, PairShards) and prepared.source_tokens is None:
        return [part, part.source]
    return [part]


def _count_all(texts: dict[str, list[Shards]], tell: Callable[[float], None]) -> dict[str, np.ndarray]:
    whole, done, counts = sum(len(side) for sides in texts.values() for side in sides), 0, {}
    for name, sides in texts.items():
        found = []
        for side in sides:
            found.append(count(side, lambda share, side=side, done=done: tell((done + share * len(side)) / whole)))
            done += len(side)
        counts[name] = np.sum(found, 0)
    return counts


def _text(sides: list[Shards], counts: np.ndarray, rare: np.ndarray) -> Text:
    tokens = text_tokens(counts)
    unknown, seldom = int(counts[UNK]) / max(tokens, 1), int(counts[rare].sum()) / max(tokens, 1)
    ends = sum(side.documents for side in sides) if isinstance(sides[0], PairShards) else 0  # line ends are no symbols
    size, characters = (sum(getattr(side, unit) for side in sides) - ends for unit in ("bytes", "characters"))
    return Text(sides[0].documents, tokens, size, characters, unknown, seldom)


def _curves(counts: dict[str, np.ndarray], order: np.ndarray, pieces: list[str]) -> Curves:
    covered = {
        name: np.cumsum(counts[name][order]) / max(text_tokens(counts[name]), 1)
        for name in ("train", "valid")
        if name in counts
    }
    ranks = [10**power for power in range(8) if 10**power <= len(order)]
    named = [(rank, pieces[order[rank - 1]]) for rank in ranks]
    return Curves(counts["train"][order], covered["train"], covered.get("valid"), named)
