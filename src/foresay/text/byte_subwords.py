"""What subwords and unigram have in common: pieces of words spelt in bytes, so that nothing is unknown.

A text is split into words before anything else: one blank goes with what follows it; then letters, up to three
digits, other marks, or other white space; blanks that are left over; each newline alone. No pattern crosses a
newline, so cutting a text after one changes no id. All 256 bytes are in the vocabulary: nothing is unknown and every
text comes back whole. Letters and marks never share a word, so no piece can spell "<stop>".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

from foresay.errors import UserError
from foresay.text import saved
from foresay.text.byte_spelling import show, unspell
from foresay.text.chunks import Chunks, by_library_in_lines, whole
from foresay.text.normalise import Normalise
from foresay.text.tokens import SPECIALS, Tokens

_PATTERN = (
    r"'(?:[sdmt]|ll|ve|re)(?![\p{L}\p{M}])| ?[\p{L}\p{M}]+| ?\p{N}{1,3}| ?[^\s\p{L}\p{M}\p{N}]+| ?[^\S \n]+"
    r"|\n| +(?![^ \n])"
)
_SPLIT = pre_tokenizers.Split(Regex(_PATTERN), "isolated")
# Coarser than the pattern: only a blank and a newline end a chunk, as no word of the pattern crosses them.
_CHUNK = re.compile(r" ?[^ \n]+|\n| +(?![^ \n])")
_SMALLEST = len(SPECIALS) + 256
_PIECE = 2**16  # characters handed to the library at a time; it holds 256 of them
# Bytes of different words held while learning, at about 50 bytes of memory each.
_DISTINCT = 2**22


class ByteSubwords(Tokens):
    """Pieces of words in bytes, by a model of the library; a part learns the model."""

    def __init__(self, size: int, sample: int, normalise: Normalise | str | None):
        super().__init__(normalise)
        if size < _SMALLEST:
            name = type(self).part_name  # pyright: ignore[reportAttributeAccessIssue]
            raise UserError(
                f"tokens {name}: size={size}; allowed: {_SMALLEST} or more (5 marks and 256 bytes): raise it, "
                "or use tokens bytes"
            )
        self.size, self.sample, self._characters = size, sample, sample

    def __len__(self) -> int:
        return len(self.contents)

    def decode(self, ids: Iterable[int]) -> str:
        return b"".join(self.contents[int(i)] for i in ids).decode("utf-8", "replace")

    def pieces(self, ids: Iterable[int]) -> list[str]:
        return [SPECIALS[i] if i < len(SPECIALS) else show(self.contents[i]) for i in map(int, ids)]

    def save(self, folder: Path) -> None:
        saved.write(Path(folder), self, self.library)

    def load(self, folder: Path) -> None:
        library = saved.read(Path(folder), self)
        try:
            self._use(library)
        except (KeyError, ValueError) as error:
            name = type(self).part_name  # pyright: ignore[reportAttributeAccessIssue]
            reason = f"no byte is spelt {error}" if isinstance(error, KeyError) else "a newline is not one token"
            raise UserError(
                f"{Path(folder) / 'tokenizer.json'} is none of tokens {name}: {reason}; train anew"
            ) from None

    def _encode_many(self, texts: Sequence[str]) -> list[np.ndarray]:
        return self.chunks.encode_many(texts)

    def _sampled(self, texts: Iterable[str]) -> Iterator[str]:
        """At most `sample` characters, in small pieces; stops when the different words get too many to hold."""
        words: set[str] = set()
        room, characters = _DISTINCT, self._characters
        for piece in _cut(texts):
            piece = piece[:characters]
            yield piece
            new = set(piece.split()).difference(words)
            words |= new
            room -= sum(len(word.encode("utf-8", "replace")) for word in new)
            characters -= len(piece)
            if characters <= 0 or room <= 0:
                return

    def _use(self, library: Tokenizer) -> None:
        vocabulary = library.get_vocab(with_added_tokens=False)
        pieces = sorted(vocabulary, key=vocabulary.__getitem__)
        self.contents = [b""] * len(SPECIALS) + [unspell(piece) for piece in pieces[len(SPECIALS) :]]
        self.library = library
        self.chunks = Chunks(by_library_in_lines(library), _CHUNK.findall)


def words_of(texts: Iterable[str]) -> Counter[bytes]:
    """How often each word of the pattern stands in the texts, as bytes."""
    chunks: Counter[str] = Counter()
    for text in texts:
        chunks.update(_CHUNK.findall(text))
    words: Counter[bytes] = Counter()
    for chunk, count in chunks.items():
        for word, _ in _SPLIT.pre_tokenize_str(whole(chunk)):
            words[word.encode("utf-8")] += count
    return words


def in_bytes(model: models.Model) -> Tokenizer:
    """A tokeniser of the library that splits into words, spells them in bytes and hands them to the model."""
    library = Tokenizer(model)
    spell = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    library.pre_tokenizer = pre_tokenizers.Sequence([_SPLIT, spell])
    library.decoder = decoders.ByteLevel()
    return library


def _cut(texts: Iterable[str]) -> Iterator[str]:
    """Each text in small pieces, after a newline where there is one."""
    for text in texts:
        start = 0
        while start < len(text):
            stop = min(start + _PIECE, len(text))
            newline = text.rfind("\n", start, stop)
            if stop < len(text) and newline > start:
                stop = newline + 1
            yield text[start:stop]
            start = stop
