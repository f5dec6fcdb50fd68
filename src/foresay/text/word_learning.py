"""A stream of texts -> the words of a vocabulary, and the phrases among them.

Words are counted first. With phrases the stream is gone through again for each pass, to count pairs of words, and once
more to count the words and phrases that are left. Memory is bounded throughout. A phrase that the vocabulary has no
room for is words again: its count goes back to its parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

import numpy as np

from foresay.text.joiner import FIRST, UNKNOWN, Joiner, Pair
from foresay.text.pairs import Pairs, keys
from foresay.text.phrased import Phrased
from foresay.text.phrases import Phrases
from foresay.text.tokens import repeatable
from foresay.text.vocabulary import Counts

_DRAIN = 2**18  # different chunks counted before they are split into words
_CHARACTERS = 2**24  # of text read before, as a chunk can be a whole line of Chinese
WordsOf = Callable[[str], list[str]]  # of a chunk without white space
Passes = list[list[Pair]]


def learn_words(
    texts: Iterable[str], words_of: WordsOf, phrases: Phrases | None, room: int, min_count: int
) -> tuple[list[str], Passes]:
    """The most frequent words and phrases, at most `room`, and the phrases of each pass."""
    if phrases is None:
        return _count_words(texts, words_of).frequent(room, min_count), []
    texts = repeatable(texts)
    counts = _count_words(texts, words_of)
    joiner = Joiner(sorted(counts.frequent(None, phrases.min_count + 1)))
    phrased = Phrased(words_of, joiner, {})
    passes: Passes = []
    for _ in range(phrases.passes):
        pairs = Pairs()
        counted = _count_units(joiner, (phrased.units([text]) for text in texts), pairs)
        chosen = _choose(phrases, joiner, counted, pairs)
        if not chosen:  # a further pass would count the same
            break
        passes.append(chosen)
        joiner.add(chosen)
    left = _count_units(joiner, (phrased.units([text]) for text in texts))
    for word, often in zip(joiner.words[FIRST:], left[FIRST:].tolist(), strict=True):
        counts.seen[word] = often
    return fit(passes, counts, room, min_count)


def _count_words(texts: Iterable[str], words_of: WordsOf) -> Counts:
    counts = Counts()
    chunks: Counter[str] = Counter()

    def drain() -> None:
        words: Counter[str] = Counter()
        for chunk, often in chunks.items():
            for word in words_of(chunk):
                words[word] += often
        counts.add(words)
        chunks.clear()

    characters = 0
    for text in texts:
        chunks.update(text.split())
        characters += len(text)
        if len(chunks) > _DRAIN or characters > _CHARACTERS:
            drain()
            characters = 0
    drain()
    return counts


def _count_units(joiner: Joiner, stream: Iterator[np.ndarray], pairs: Pairs | None = None) -> np.ndarray:
    """How often each inner id stands in the stream; neighbours that are both words are added to the pairs."""
    counts = np.zeros(len(joiner.words), np.int64)
    for ids in stream:
        counts += np.bincount(ids, minlength=len(counts))
        if pairs is not None:
            words = ids >= FIRST
            both = words[:-1] & words[1:]
            pairs.add(keys(ids[:-1][both], ids[1:][both]))
    return counts


def _choose(phrases: Phrases, joiner: Joiner, counts: np.ndarray, pairs: Pairs) -> list[Pair]:
    """The pairs whose score is above the threshold."""
    found, often = pairs.counted()
    left, right = found >> 32, found & (2**32 - 1)
    score = phrases.score(often, counts[left], counts[right], int(counts[UNKNOWN:].sum()))
    chosen = np.flatnonzero(score > phrases.threshold)
    named = ((joiner.words[a], joiner.words[b]) for a, b in zip(left[chosen], right[chosen], strict=True))
    return [pair for pair in named if _free(joiner, pair)]


def _free(joiner: Joiner, pair: Pair) -> bool:
    """Whether a_b is no word of the text itself, which would be taken for the phrase."""
    known = joiner.ids.get("_".join(pair))
    return known is None or len(joiner.spread(known)) == sum(len(joiner.spread(joiner.ids[word])) for word in pair)


def fit(passes: Passes, counts: Counts, room: int, min_count: int) -> tuple[list[str], Passes]:
    """The words of the vocabulary, and the phrases that they are or that their phrases are made of."""
    while True:
        words = counts.frequent(room, min_count)
        known, needed, again = set(words), set(words), False
        for a, b in chain.from_iterable(reversed(passes)):
            joined = f"{a}_{b}"
            if joined not in known and counts.seen[joined]:
                freed = counts.seen.pop(joined)
                counts.seen[a] += freed
                counts.seen[b] += freed
                again = True
            if joined in needed:
                needed |= {a, b}
        if not again:
            return words, [[pair for pair in pairs if "_".join(pair) in needed] for pairs in passes]
