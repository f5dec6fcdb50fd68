"""What words and blanks have in common: a vocabulary of whole words and <unk> for all others.

    text -> normalised -> chunks at white space -> (segmented) -> split by the pattern of the part -> (stemmed)
         -> (phrases joined) -> ids

Words never hold white space. Without the steps in brackets the library splits the chunks and looks the words up;
with one of them Python does. A literal "<unk>" in the text is <unk>.

Words that `also` names (given_words.py) join the vocabulary after those of the text, beyond `size`: with vectors to
begin with, a model then knows words that its own text has not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from foresay.text import saved
from foresay.text.chunks import Chunks, by_library, flat, whole
from foresay.text.given_words import digest_of_words, given_words
from foresay.text.joiner import Joiner, Pair
from foresay.text.normalise import Normalise
from foresay.text.phrased import Phrased
from foresay.text.phrases import Phrases
from foresay.text.segment import Jieba
from foresay.text.stem import Stem
from foresay.text.tokens import PAD, SPECIALS, UNK, Stage, Tokens
from foresay.text.vocabulary import Vocabulary
from foresay.text.word_learning import learn_words

# Python's str.split takes these four for white space; in the library's \s they are not.
SPACE = r"\s\x1c-\x1f"


class WordTokens(Tokens):
    """Whole words; a part gives `pattern` and, for decoding, `join`."""

    pattern: str  # of one word, in the syntax of the library (Oniguruma)
    keeps_text = False

    def __init__(
        self,
        size: int,
        min_count: int,
        normalise: Normalise | str | None,
        segment: Jieba | str | None,
        stem: Stem | str | None,
        phrases: Phrases | str | None,
        also: str | None,
    ):
        super().__init__(normalise)
        self._check_size(size)
        self.size, self.min_count, self.also = size, min_count, also
        self.segment, self.stem = cast("Jieba | None", segment), cast("Stem | None", stem)
        self.phrases = cast("Phrases | None", phrases)
        if phrases is None:  # nothing else looks past a blank
            self.cuts = "at blanks"
        self._use(self._library(Vocabulary([])), [])

    def __len__(self) -> int:
        return len(self.words)

    def decode(self, ids: Iterable[int]) -> str:
        kept = (i for i in map(int, ids) if i == UNK or i >= len(SPECIALS))
        return self.join([word for i in kept for word in self.spelt.get(i) or [self.words[i]]])

    def pieces(self, ids: Iterable[int]) -> list[str]:
        return [self.words[int(i)] for i in ids]

    def save(self, folder: Path) -> None:
        learnt = {} if self.phrases is None else {"phrases": self.passes}
        saved.write(Path(folder), self, self.library, learnt)

    def load(self, folder: Path) -> None:
        library = saved.read(Path(folder), self)
        self._use(library, [] if self.phrases is None else saved.read_phrases(Path(folder)))

    def told(self, learnt: bool) -> dict[str, Any]:
        about = super().told(learnt)
        also = about.pop("also", None)  # not named where there is none: texts prepared before keep their names
        return about if also is None or learnt else about | {"also": digest_of_words(also)}

    def take(self, words: Sequence[str]) -> None:
        """A vocabulary that was learnt elsewhere, without the specials."""
        self._use(self._library(Vocabulary(list(words))), [])

    def join(self, words: Sequence[str]) -> str:
        """The words as a text."""
        return " ".join(words)

    def split(self, chunk: str) -> list[str]:
        """The words of a chunk without white space, by the pattern."""
        library = self.library
        chunk = whole(chunk)
        if library.normalizer is not None:
            chunk = library.normalizer.normalize_str(chunk)
        assert library.pre_tokenizer is not None
        return [word for word, _ in library.pre_tokenizer.pre_tokenize_str(chunk)]

    def apart(self) -> list[normalizers.Normalizer]:
        """What the library replaces in a chunk before it splits it."""
        return []

    def _segmented(self, chunk: str) -> list[str]:
        if self.segment is None:
            return self.split(chunk)
        pieces = self.segment(chunk)
        return [word for piece, whole_word in pieces for word in ([piece] if whole_word else self.split(piece))]

    def _words_of(self, chunk: str) -> list[str]:
        words = self._segmented(chunk)
        return words if self.stem is None else list(map(self.stem, words))

    def _encode_many(self, texts: Sequence[str]) -> list[np.ndarray]:
        return self.encoder.encode_many(texts)

    def _stages(self, text: str) -> list[Stage]:
        if self.segment is None and self.stem is None and self.phrases is None:
            return []
        words = [word for chunk in text.split() for word in self._segmented(chunk)]
        found = [Stage("split" if self.segment is None else "segmented", words)]
        if self.stem is not None:
            words = list(map(self.stem, words))
            found.append(Stage("stemmed", words))
        if isinstance(self.encoder, Phrased):
            found.append(Stage("phrases", self.encoder.shown(text, words)))
        return found

    def _learn(self, texts: Iterable[str]) -> None:
        room = self.size - len(SPECIALS)
        plain = self.segment is None and self.stem is None  # a shorter way to the same words
        words_of = self.split if plain else self._words_of
        words, passes = learn_words(texts, words_of, self.phrases, room, self.min_count)
        if self.also is not None:
            own = {*SPECIALS, *words}
            words += [word for word in given_words(self.also) if word not in own]
        self._use(self._library(Vocabulary(words)), passes)
        self._check_learnt(self.min_count)

    def _library(self, vocabulary: Vocabulary) -> Tokenizer:
        library = Tokenizer(models.WordLevel(vocabulary.ids, unk_token=SPECIALS[UNK]))
        if steps := self.apart():
            library.normalizer = normalizers.Sequence(steps)
        library.pre_tokenizer = pre_tokenizers.Split(Regex(self.pattern), "removed", invert=True)
        return library

    def _use(self, library: Tokenizer, passes: list[list[Pair]]) -> None:
        self.library, self.passes = library, passes
        ids = library.get_vocab(with_added_tokens=False)
        self.words = [SPECIALS[PAD]] * len(ids)
        for word, i in ids.items():
            self.words[i] = word
        known = {word: i for word, i in ids.items() if i >= len(SPECIALS)}
        parts = _parts(passes)
        self.spelt = {known[word]: spelt for word, spelt in parts.items() if word in known}
        if self.phrases is not None:
            inner = dict.fromkeys([*known, *(word for spelt in parts.values() for word in spelt)])
            joiner = Joiner((word for word in inner if word not in parts), passes)
            self.encoder = Phrased(self._words_of, joiner, known)
        elif self.segment is not None or self.stem is not None:
            self.encoder = Chunks(
                lambda chunks: flat([known.get(w, UNK) for w in self._words_of(c)] for c in chunks), str.split
            )
        else:
            self.encoder = Chunks(by_library(library), str.split)


def _parts(passes: list[list[Pair]]) -> dict[str, list[str]]:
    """Phrase -> the words it is made of."""
    parts: dict[str, list[str]] = {}
    for pairs in passes:
        for a, b in pairs:
            parts[f"{a}_{b}"] = [*parts.get(a, [a]), *parts.get(b, [b])]
    return parts
