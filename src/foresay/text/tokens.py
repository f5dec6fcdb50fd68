"""What every tokeniser keeps: learn a vocabulary, text -> ids, ids -> text, saved as JSON.

All that stands between a text and its ids is inside: the normaliser, and for words also segmenter, stemmer and phrases.

Ids 0-4 are the same in every vocabulary: <pad> <unk> <start> <stop> <mask>. Text never gives one of the
control marks by accident: a literal "<stop>" in a text is spelt out like any other word (only words and blanks
read "<unk>" as the unknown word, as corpora such as PTB mean it).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from foresay import parts
from foresay.errors import UserError
from foresay.text.normalise import Normalise

SPECIALS = ("<pad>", "<unk>", "<start>", "<stop>", "<mask>")
PAD, UNK, START, STOP, MASK = range(5)
Cuts = Literal["at lines", "at blanks", "anywhere"]


@dataclass(frozen=True)
class Stage:
    """A text on its way to ids: what it is after one step, in one piece or in several."""

    name: str
    pieces: list[str]


class Tokens:
    """`learn(texts)` once, then `encode`, `encode_many`, `decode`; `save` and `load` keep it with the run.

    A part gives `_learn` and `_encode_many`, which meet normalised text only.
    """

    part_kind = "tokens"
    settings: dict[str, Any]
    cuts: Cuts = "at lines"  # where a text may be cut and its ids stay the same
    keeps_text = True  # False: decode gives the (normalised) text back only up to spacing
    quick = False  # True: encoding is so fast that handing texts to other processes does not pay
    sample: int | None = None  # `learn` uses at most so many characters; a caller with more spreads them evenly

    def __init__(self, normalise: Normalise | str | None = None):
        self.normalise = cast("Normalise | None", normalise)
        if normalise is not None:  # its steps look at whole lines
            self.cuts, self.quick = "at lines", False

    def __len__(self) -> int:
        """V, the specials included."""
        raise AssertionError

    def learn(self, texts: Iterable[str]) -> None:
        """Builds the vocabulary from a stream of texts; memory does not grow with the stream.

        Some tokenisers go through it several times: a stream that can be gone through once is then held in memory.
        """
        self._learn(texts if self.normalise is None else Normalised(texts, self.normalise))

    def encode(self, text: str) -> np.ndarray:
        """The ids of a text, (T,) of uint32, without <start> or <stop>."""
        return self.encode_many([text])[0]

    def encode_many(self, texts: Sequence[str]) -> list[np.ndarray]:
        """The ids of each text, on all cores."""
        return self._encode_many(texts if self.normalise is None else self.normalise.many(texts))

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids; control marks are left out."""
        raise AssertionError

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """What each id stands for, to show a person: specials by name."""
        raise AssertionError

    def stages(self, text: str) -> list[Stage]:
        """The text as given, after every step that changes it, and as tokens."""
        found = [Stage("given", [text])]
        if self.normalise is not None:
            found += [Stage(name, [after]) for name, after in self.normalise.shown(text)]
        return [*found, *self._stages(found[-1].pieces[0]), Stage("tokens", self.pieces(self.encode(text)))]

    def save(self, folder: Path) -> None:
        """Writes `tokenizer.json`, which the library `tokenizers` loads too, and `text.json` for all before it."""
        raise AssertionError

    def load(self, folder: Path) -> None:
        """Reads what `save` wrote into this part."""
        raise AssertionError

    def told(self, learnt: bool) -> dict[str, Any]:
        """What ids depend on beside the text, and beside the vocabulary where it is learnt: names a prepared text."""
        return parts.describe(self)

    def _learn(self, texts: Iterable[str]) -> None:
        raise AssertionError

    def _encode_many(self, texts: Sequence[str]) -> list[np.ndarray]:
        raise AssertionError

    def _check_size(self, size: int | None) -> None:
        """Refuses a vocabulary that has room for the marks only."""
        if size is not None and size <= len(SPECIALS):
            name, least = type(self).part_name, len(SPECIALS) + 1  # pyright: ignore[reportAttributeAccessIssue]
            raise UserError(f"tokens {name}: size={size}; allowed: {least} or more (the first 5 are marks): raise it")

    def _check_learnt(self, min_count: int) -> None:
        """Refuses a vocabulary that has nothing but the marks because `min_count` left nothing over."""
        if len(self) == len(SPECIALS) and min_count > 1:
            name = type(self).part_name  # pyright: ignore[reportAttributeAccessIssue]
            raise UserError(
                f"tokens {name}: min_count={min_count}, but nothing in the text stands so often; "
                "lower tokens.min_count or give more text"
            )

    def _stages(self, text: str) -> list[Stage]:
        """The steps of this tokeniser between the normalised text and its tokens."""
        return []


class Normalised:
    """A stream of texts, normalised; it can be gone through again where the stream itself can."""

    def __init__(self, texts: Iterable[str], normalise: Normalise):
        self.texts, self.normalise = texts, normalise

    def __iter__(self) -> Iterator[str]:
        return map(self.normalise, self.texts)


def repeatable(texts: Iterable[str]) -> Iterable[str]:
    """The stream, or a list of its texts where it can be gone through only once."""
    source = texts.texts if isinstance(texts, Normalised) else texts
    return list(texts) if iter(source) is source else texts
