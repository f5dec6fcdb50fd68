"""Subwords: byte-level BPE (Sennrich et al. 2016; Radford et al. 2019) learnt from the text by `tokenizers`.

A text is split into words before pairs are merged: one blank goes with what follows it; then letters, up to three
digits, other marks, or other white space; blanks that are left over; each newline alone. No pattern crosses a
newline, so cutting a text after one changes no id. All 256 bytes are in the vocabulary: nothing is unknown and every
text comes back whole. Letters and marks never share a word, so no merge can spell "<stop>".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from foresay.errors import UserError
from foresay.parts import Size, part
from foresay.text import saved
from foresay.text.byte_spelling import SPELLING, show, unspell
from foresay.text.chunks import Chunks
from foresay.text.tokens import SPECIALS, Tokens

_PATTERN = (
    r"'(?:[sdmt]|ll|ve|re)(?![\p{L}\p{M}])| ?[\p{L}\p{M}]+| ?\p{N}{1,3}| ?[^\s\p{L}\p{M}\p{N}]+| ?[^\S \n]+"
    r"|\n| +(?![^ \n])"
)
# Coarser than the pattern: only a blank and a newline end a chunk, as no word of the pattern crosses them.
_CHUNK = re.compile(r" ?[^ \n]+|\n| +(?![^ \n])")
_SMALLEST = len(SPECIALS) + 256
_PIECE = 2**16  # characters handed to the library at a time; it holds 256 of them
# Bytes of different words the library may hold while it learns, at about 50 bytes of memory each.
_DISTINCT = 2**22


@part("tokens", "subwords")
class Subwords(Tokens):
    """Byte-level BPE learnt from at most `sample` characters; nothing is unknown."""

    def __init__(self, size: Size = 2000, sample: Size = 50_000_000):
        if size < _SMALLEST:
            raise UserError(
                f"tokens subwords: size={size}; allowed: {_SMALLEST} or more (5 marks and 256 bytes): raise it, "
                "or use tokens bytes"
            )
        self.size, self.sample, self._characters = size, sample, sample
        self._use(_library(models.BPE({piece: i for i, piece in enumerate([*SPECIALS, *SPELLING])}, [])))

    def __len__(self) -> int:
        return len(self.contents)

    def learn(self, texts: Iterable[str]) -> None:
        library = _library(models.BPE())
        trainer = trainers.BpeTrainer(
            vocab_size=self.size,
            min_frequency=2,
            special_tokens=list(SPECIALS),
            initial_alphabet=SPELLING,
            show_progress=False,
        )
        library.train_from_iterator(_sampled(texts, self._characters), trainer)
        state = json.loads(library.to_str())
        state["added_tokens"] = []  # registered marks would be matched in text
        self._use(Tokenizer.from_str(json.dumps(state)))

    def encode(self, text: str) -> np.ndarray:
        return self.chunks.encode_many([text])[0]

    def encode_many(self, texts: Sequence[str]) -> list[np.ndarray]:
        return self.chunks.encode_many(texts)

    def decode(self, ids: Iterable[int]) -> str:
        return b"".join(self.contents[int(i)] for i in ids).decode("utf-8", "replace")

    def pieces(self, ids: Iterable[int]) -> list[str]:
        return [SPECIALS[i] if i < len(SPECIALS) else show(self.contents[i]) for i in map(int, ids)]

    def save(self, folder: Path) -> None:
        saved.write(Path(folder), self, self.chunks.library)

    def load(self, folder: Path) -> None:
        library = saved.read(Path(folder), self)
        try:
            self._use(library)
        except KeyError as error:
            raise UserError(f"{Path(folder) / 'tokenizer.json'} is no byte-level BPE ({error}); train anew") from None

    def _use(self, library: Tokenizer) -> None:
        vocabulary = library.get_vocab(with_added_tokens=False)
        pieces = sorted(vocabulary, key=vocabulary.__getitem__)
        self.contents = [b""] * len(SPECIALS) + [unspell(piece) for piece in pieces[len(SPECIALS) :]]
        self.chunks = Chunks(library, _CHUNK.findall)


def _library(model: models.BPE) -> Tokenizer:
    library = Tokenizer(model)
    split = pre_tokenizers.Split(Regex(_PATTERN), "isolated")
    spell = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    library.pre_tokenizer = pre_tokenizers.Sequence([split, spell])
    library.decoder = decoders.ByteLevel()
    return library


def _sampled(texts: Iterable[str], characters: int) -> Iterator[str]:
    """At most so many characters, in small pieces cut after newlines; stops when the words get too many to hold."""
    words: set[str] = set()
    room = _DISTINCT
    for text in texts:
        start = 0
        while start < len(text):
            stop = min(start + _PIECE, len(text))
            newline = text.rfind("\n", start, stop)
            if stop < len(text) and newline > start:
                stop = newline + 1
            piece = text[start : min(stop, start + characters)]
            yield piece
            new = set(piece.split()).difference(words)
            words |= new
            room -= sum(len(word.encode("utf-8", "replace")) for word in new)
            characters -= len(piece)
            if characters <= 0 or room <= 0:
                return
            start = stop
