"""Unigram subwords (Kudo 2018): each piece has a probability, a word is cut the likeliest way.

    P(word) = sum over ways to cut it of the product of p(piece)

Learnt from many seeds by expectation-maximisation and pruning. In each round, c(x) being the expected count of piece x:

    E   c(x) over all ways to cut all words (lattice.py)
    M   log p(x) = digamma(c(x)) - digamma(sum c)        which makes rare pieces rarer
    prune by loss(x) = c(x) (log p(x) - log P(best way to cut x into other pieces)), the smallest first

until the vocabulary has its size; pieces with c(x) < 0.5 go at once, unless there is room. The library `tokenizers`
cuts, but does not learn here: its trainer gives another file each time, even on one thread, as its words come in
random order. Spelt in bytes as subwords are: nothing is unknown and every text comes back whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from tokenizers import Tokenizer, models

from foresay.parts import Size, part
from foresay.text.byte_spelling import SPELLING
from foresay.text.byte_subwords import ByteSubwords, in_bytes, words_of
from foresay.text.lattice import Lattice
from foresay.text.normalise import Normalise
from foresay.text.substrings import seeds
from foresay.text.tokens import SPECIALS

_BYTES = 2**20  # of different words to learn from, the most frequent ones; about 400 MB while learning
_LONGEST_WORD = 120  # bytes; longer ones are cut for learning
_SEEDS = 4  # for each piece of the vocabulary; 16 gave 3.76 instead of 3.89 bytes a token on WikiText-2, 8000 pieces
_KEPT = 0.75  # in each round
_ROUNDS = 2  # of expectation-maximisation before each pruning
_DIGITS = 6  # of the scores that are saved


@part("tokens", "unigram")
class Unigram(ByteSubwords):
    """Unigram model over bytes learnt from at most `sample` characters; nothing is unknown."""

    def __init__(self, size: Size = 2000, sample: Size = 50_000_000, normalise: Normalise | str | None = None):
        super().__init__(size, sample, normalise)
        self._use(_model([bytes([byte]) for byte in range(256)], np.zeros(256)))

    def _learn(self, texts: Iterable[str]) -> None:
        words = sorted(_frequent(words_of(self._sampled(texts))).items())
        if words:
            self._use(_model(*_learnt(words, self.size - len(SPECIALS))))


def _frequent(counts: Counter[bytes]) -> Counter[bytes]:
    """The most frequent words, cut where they are long, as many as there is room for."""
    words: Counter[bytes] = Counter()
    room = _BYTES
    for word, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        for start in range(0, len(word), _LONGEST_WORD):
            words[word[start : start + _LONGEST_WORD]] += count
        room -= len(word)
        if room <= 0:
            break
    return words


def _learnt(words: list[tuple[bytes, int]], size: int) -> tuple[list[bytes], np.ndarray]:
    """The pieces of a vocabulary, all 256 bytes first, and the log of the probability of each."""
    content = np.frombuffer(b"".join(word for word, _ in words), np.uint8)
    lengths = np.array([len(word) for word, _ in words])
    counts = np.array([count for _, count in words], np.float64)
    found = seeds(content, lengths, counts, _SEEDS * size)
    lattice, often = Lattice(lengths, counts, found), found.count
    while True:
        for _ in range(_ROUNDS):
            often, _ = lattice.expected(_score(often, 1e-3))
        if len(often) <= size:
            break
        score = _score(often, 1e-3)
        loss = often[256:] * (score - lattice.best_without(score))[256:]
        room = max(size, min(int(_KEPT * len(often)), int((often >= 0.5).sum())))
        kept = np.ones(len(often), bool)
        kept[256 + np.argsort(-loss, kind="stable")[room - 256 :]] = False
        lattice.keep(kept)
        often = often[kept]
    ends = lattice.begin + lattice.length
    longer = [content[a:b].tobytes() for a, b in zip(lattice.begin[256:], ends[256:], strict=True)]
    return [*(bytes([byte]) for byte in range(256)), *longer], _score(often, 0.5)


def _score(often: np.ndarray, least: float) -> np.ndarray:
    """log p of each piece; one that is hardly used keeps the share of `least` times, a byte of half a time."""
    often = np.maximum(often, np.where(np.arange(len(often)) < 256, 0.5, least))
    return _digamma(often) - _digamma(np.array([often.sum()]))


def _digamma(x: np.ndarray) -> np.ndarray:
    """d/dx log gamma(x) for x > 0: psi(x) = psi(x + 1) - 1/x up to x > 6, then the series in 1/x."""
    result, x = np.zeros_like(x), x.copy()
    while (small := x < 6).any():
        result[small] -= 1 / x[small]
        x[small] += 1
    square = 1 / (x * x)
    return result + np.log(x) - 0.5 / x - square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))


def _model(pieces: list[bytes], score: np.ndarray) -> Tokenizer:
    """The library's tokeniser: marks, bytes, then pieces by falling score."""
    scored = [("".join(SPELLING[b] for b in p), round(float(s), _DIGITS)) for p, s in zip(pieces, score, strict=True)]
    longer = sorted(scored[256:], key=lambda pair: (-pair[1], pair[0]))
    marks = [(mark, 0.0) for mark in SPECIALS]
    return in_bytes(models.Unigram([*marks, *scored[:256], *longer]))
