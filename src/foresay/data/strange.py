"""Words that a vocabulary does not know, kept as they are spelt: beside shards, and in a batch.

strange.bin    int64 pairs: the place of an <unk> in the stream of a part, and which word stands there; in order
strange.json   how many pairs there are, and these words, each once, as the tokens leave them: lower case, stems

In a batch the word at (row, column) is symbol `spelt[row, column]` of the vocabulary where that is below V, else row
`spelt - V` of `characters` (U, W), the numbers of text/word_bytes.py. So every word that the batch has more than once
is read once. `ids` has <unk> there, as before: who does not read letters sees no difference. A literal "<unk>" is the
mark itself, and has no letters.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np
import torch

from foresay.data.batch import Batch
from foresay.errors import UserError
from foresay.text.tokens import SPECIALS, UNK, Tokens
from foresay.text.word_bytes import numbered

PLACES, WORDS = "strange.bin", "strange.json"
MARK = SPECIALS[UNK]
LONGEST = 100  # bytes of a word that are kept in a batch


class StrangeWriter:
    """`add` what was encoded, in order; `save` beside the shards."""

    def __init__(self, tokens: Tokens):
        self.tokens, self.numbers, self.place = tokens, dict[str, int](), 0
        self.places, self.which = array("q"), array("q")

    def add(self, ids: Sequence[np.ndarray], words_of: Callable[[int], Sequence[str]]) -> None:
        """The ids of sentences, and the words that one of them came from, by its number among these.

        Each sentence is one longer in the stream. Words are asked for only where an <unk> stands among them.
        """
        lengths = np.array([len(row) for row in ids])
        begins = np.cumsum(lengths) - lengths
        unknown = np.flatnonzero(np.concatenate(ids) == UNK)
        rows = np.searchsorted(begins, unknown, "right") - 1
        found: list[list[int]] = np.stack([rows, unknown - begins[rows]], 1).tolist()
        for row, own in groupby(found, itemgetter(0)):
            words = words_of(row)
            assert len(words) == lengths[row]
            begin = self.place + int(begins[row]) + row
            for _, column in own:
                if words[column] != MARK:
                    self.places.append(begin + column)
                    self.which.append(self._number(words[column]))
        self.place += int(lengths.sum()) + len(ids)

    def _number(self, word: str) -> int:
        return self.numbers.setdefault(spelling(self.tokens, word), len(self.numbers))

    def save(self, folder: Path) -> None:
        places = np.stack([np.array(self.places), np.array(self.which)], 1).astype("<i8")
        places.tofile(folder / PLACES)
        about = {"places": len(places), "words": list(self.numbers)}
        text = json.dumps(about, ensure_ascii=True)  # half a surrogate pair can stand in a word too
        (folder / WORDS).write_text(text + "\n", encoding="utf-8")


class Strange:
    """The strange words of one part, as `save` left them."""

    def __init__(self, folder: Path, vocabulary: int):
        self.vocabulary = vocabulary
        try:
            self.places, self.which = np.fromfile(folder / PLACES, "<i8").reshape(-1, 2).T
            about = json.loads((folder / WORDS).read_text(encoding="utf-8"))
            self.words: list[str] = about["words"]
            whole = about["places"] == len(self.which) and self.which.max(initial=-1) < len(self.words)
        except (OSError, ValueError, KeyError, TypeError):
            whole = False
        if not whole:
            raise UserError(f"{folder / PLACES} is missing or damaged; delete {folder.parent} and prepare again")

    def told(self, batch: Batch, begins: Sequence[int]) -> Batch:
        """The batch, whose rows begin at these places of the stream, with the spelling of its strange words."""
        assert batch.ids is not None
        rows, columns, which = [], [], []
        lengths = batch.ids.shape[1] if batch.mask is None else batch.mask.sum(1).numpy()
        for row, (begin, length) in enumerate(zip(begins, np.broadcast_to(lengths, len(begins)), strict=True)):
            first, last = np.searchsorted(self.places, [begin, begin + length])
            rows += [row] * int(last - first)
            columns += (self.places[first:last] - begin).tolist()
            which += self.which[first:last].tolist()
        if not rows:
            return batch
        distinct, number = np.unique(which, return_inverse=True)
        return _with(batch, (rows, columns), number, self._numbers[distinct], self.vocabulary)

    @cached_property
    def _numbers(self) -> np.ndarray:
        return numbered(self.words, LONGEST)


def spelt(batch: Batch, sentences: Sequence[Sequence[str]], tokens: Tokens) -> Batch:
    """The batch of these words with the spelling of those that are <unk> in it."""
    assert batch.ids is not None
    unknown: list[list[int]] = (batch.ids == UNK).nonzero().tolist()
    places = [(row, column) for row, column in unknown if sentences[row][column] != MARK]
    if not places:
        return batch
    words = [spelling(tokens, sentences[row][column]) for row, column in places]
    distinct = {word: number for number, word in enumerate(dict.fromkeys(words))}
    which = np.array([distinct[word] for word in words])
    return _with(batch, tuple(zip(*places, strict=True)), which, numbered(list(distinct), LONGEST), len(tokens))


def words_of(tokens: Tokens, text: str, ids: Sequence[int]) -> list[str]:
    """What the ids of a text stand for: its words as they are spelt there, or symbols where tokens are no words."""
    split = getattr(tokens, "split", None)
    plain = text if tokens.normalise is None else tokens.normalise(text)
    words = [] if split is None else [word for chunk in plain.split() for word in split(chunk)]
    return words if len(words) == len(ids) else tokens.pieces(ids)


def spelling(tokens: Tokens, word: str) -> str:
    """A word as the vocabulary would have it."""
    word = word if tokens.normalise is None else tokens.normalise(word)
    stem = getattr(tokens, "stem", None)
    return word if stem is None else stem(word)


def _with(batch: Batch, places: tuple, which: np.ndarray, numbers: np.ndarray, vocabulary: int) -> Batch:
    assert batch.ids is not None
    found = batch.ids.clone()
    found[torch.as_tensor(places[0]), torch.as_tensor(places[1])] = torch.from_numpy(which + vocabulary)
    widest = int((numbers > 0).sum(1).max())
    return replace(batch, spelt=found, characters=torch.from_numpy(numbers[:, :widest].copy()))
