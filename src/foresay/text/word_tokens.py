"""What words and blanks have in common: a vocabulary of whole words and <unk> for all others.

Words never hold white space, so a text is cut there into chunks (`str.split`); the library splits each chunk into
words by the pattern of the part, and looks the words up. A literal "<unk>" in the text is <unk>.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from foresay.text import saved
from foresay.text.chunks import Chunks
from foresay.text.tokens import PAD, SPECIALS, UNK, Tokens
from foresay.text.vocabulary import Counts, Vocabulary

# Python's str.split takes these four for white space; in the library's \s they are not.
SPACE = r"\s\x1c-\x1f"
_DRAIN = 2**18  # different chunks counted before they are split into words


class WordTokens(Tokens):
    """Whole words; a part gives `pattern` and, for decoding, `join`."""

    pattern: str  # of one word, in the syntax of the library (Oniguruma)
    keeps_text = False

    def __init__(self, size: int, min_count: int, lowercase: bool):
        self.size, self.min_count, self.lowercase = size, min_count, lowercase
        self._use(self._library(Vocabulary([])))

    def __len__(self) -> int:
        return len(self.words)

    def learn(self, texts: Iterable[str]) -> None:
        counts = Counts()
        chunks: Counter[str] = Counter()
        for text in texts:
            chunks.update(text.split())
            if len(chunks) > _DRAIN:
                counts.add(self._words_of(chunks))
                chunks = Counter()
        counts.add(self._words_of(chunks))
        room = max(self.size - len(SPECIALS), 0)
        self._use(self._library(Vocabulary(counts.frequent(room, self.min_count))))

    def encode(self, text: str) -> np.ndarray:
        return self.chunks.encode_many([text])[0]

    def encode_many(self, texts: Sequence[str]) -> list[np.ndarray]:
        return self.chunks.encode_many(texts)

    def decode(self, ids: Iterable[int]) -> str:
        return self.join([self.words[i] for i in map(int, ids) if i == UNK or i >= len(SPECIALS)])

    def pieces(self, ids: Iterable[int]) -> list[str]:
        return [self.words[int(i)] for i in ids]

    def save(self, folder: Path) -> None:
        saved.write(Path(folder), self, self.chunks.library)

    def load(self, folder: Path) -> None:
        self._use(saved.read(Path(folder), self))

    def join(self, words: Sequence[str]) -> str:
        """The words as a text."""
        return " ".join(words)

    def split(self, chunk: str) -> list[str]:
        """The words of a chunk without white space."""
        library = self.chunks.library
        if library.normalizer is not None:
            chunk = library.normalizer.normalize_str(chunk)
        assert library.pre_tokenizer is not None
        return [word for word, _ in library.pre_tokenizer.pre_tokenize_str(chunk)]

    def normalisers(self) -> list[normalizers.Normalizer]:
        """What is done to the text before it is split."""
        return [normalizers.Lowercase()] if self.lowercase else []

    def _words_of(self, chunks: Counter[str]) -> Counter[str]:
        words: Counter[str] = Counter()
        for chunk, count in chunks.items():
            for word in self.split(chunk):
                words[word] += count
        return words

    def _library(self, vocabulary: Vocabulary) -> Tokenizer:
        library = Tokenizer(models.WordLevel(vocabulary.ids, unk_token=SPECIALS[UNK]))
        steps = self.normalisers()
        if steps:
            library.normalizer = normalizers.Sequence(steps)
        library.pre_tokenizer = pre_tokenizers.Split(Regex(self.pattern), "removed", invert=True)
        return library

    def _use(self, library: Tokenizer) -> None:
        self.chunks = Chunks(library, str.split)
        ids = library.get_vocab(with_added_tokens=False)
        self.words = [SPECIALS[PAD]] * len(ids)
        for word, i in ids.items():
            self.words[i] = word
