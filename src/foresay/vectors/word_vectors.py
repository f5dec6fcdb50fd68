"""Words and their vectors: looked up like a dictionary, compared, searched, saved.

    vectors = WordVectors.load("vectors.txt")            # or a run folder, .bin, .vec, .safetensors, any of them .gz
    vectors["king"]                                      # (D,) float32
    vectors.near("king")                                 # [("queen", 0.74), ...]
    vectors.analogy("man", "king", "woman")              # man is to king as woman is to ?
    vectors.save("vectors.safetensors")

Words stand in order of falling frequency where that is known. `in`, `len`, `keys`, `items` and iteration are of the
words that have a row; with a spelling (character n-grams) every other word has a vector too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike

from foresay.errors import UserError
from foresay.extras import MissingLibrary
from foresay.hub import local
from foresay.parts import Size, fits
from foresay.vectors import analogy, files, keyed, run_folder
from foresay.vectors.analogy import Method
from foresay.vectors.checked import (
    NotFinite,
    UnknownWord,
    checked_counts,
    checked_matrix,
    checked_place,
    checked_vectors,
    checked_words,
)
from foresay.vectors.index import Index
from foresay.vectors.nearest import largest, nearest, unit_rows
from foresay.vectors.run_folder import Which
from foresay.vectors.spelling import Spelling

Near = list[tuple[str, float]]
Asked = str | ArrayLike  # a word, or a vector of one's own
Default = TypeVar("Default")


class WordVectors(Mapping[str, np.ndarray]):
    """Unique `words` and a `matrix` (V, D) of finite numbers, a row for each; `counts` (V,) where they are known."""

    allowed = "words of the vectors"  # what may be asked for, in an error

    def __init__(
        self,
        words: Sequence[str],
        matrix: ArrayLike,
        counts: ArrayLike | None = None,
        spelling: Spelling | None = None,
    ):
        self.words = checked_words(words)
        self.matrix = checked_matrix(matrix, len(self.words))
        self.counts = None if counts is None else checked_counts(counts, len(self.words))
        self.spelling = spelling
        self._rows = {word: row for row, word in enumerate(self.words)}
        if len(self._rows) != len(self.words):
            twice = next(word for row, word in enumerate(self.words) if self._rows[word] != row)
            raise UserError(f"the word {twice!r} is given twice; give each word once")
        if spelling is not None and not isinstance(spelling, Spelling):
            raise UserError(f"the spelling is a {type(spelling).__name__}; allowed: a Spelling, or None")
        if spelling is not None and spelling.table.shape[1] != self.width:
            table = spelling.table.shape[1]
            raise UserError(f"the n-grams have width {table}, the words {self.width}; give both the same")

    @classmethod
    def load(cls, path: str | Path, most: int | None = None, *, which: Which = "input") -> WordVectors:
        """The vectors of a file or of a run folder, the first `most` words; `which` of a run's: input, output, both."""
        most = None if most is None else fits(Size, most, "most")
        place = local(checked_place(path, "a file of vectors, or of a run's folder"))
        which = fits(Which, which, "which")
        try:
            found = cls(**files.parts_of(place, most, which))
            if place.is_dir():
                found.allowed = run_folder.allowed(place)
            return found
        except MissingLibrary:
            raise
        except NotFinite as error:
            raise (run_folder.diverged(place) if place.is_dir() else UserError(f"{place}: {error}")) from None
        except UserError as error:
            raise error if str(place) in str(error) else UserError(f"{place}: {error}") from None

    def save(self, path: str | Path, form: str | None = None) -> None:
        """Writes a file in the form of its name (.txt .vec .bin .glove.txt .safetensors, a folder), or in `form`."""
        files.save(self, checked_place(path, "the file to write"), form)

    @classmethod
    def from_gensim(cls, keyed_vectors: Any) -> WordVectors:
        """The vectors of gensim's KeyedVectors, FastTextKeyedVectors, or of a model that has them."""
        return cls(**keyed.parts_of(keyed_vectors))

    def to_gensim(self) -> Any:
        """gensim's KeyedVectors with copies of these."""
        return keyed.to_gensim(self)

    __eq__ = object.__eq__  # a dictionary's would compare every number
    __hash__ = object.__hash__  # pyright: ignore[reportAssignmentType]

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._rows

    def __repr__(self) -> str:
        return f"WordVectors({len(self):,} words, width {self.width})"

    def __getitem__(self, word: str | Sequence[str]) -> np.ndarray:
        """The vector (D,) of a word, or those of a list of words (N, D); a word without one is an UnknownWord."""
        word = _listed(word)
        if isinstance(word, str):
            return self._vector(word)
        if not isinstance(word, Sequence):
            raise UserError(f"{' '.join(repr(word).split())[:60]} is no word; allowed: a word, or a list of words")
        return np.array([self._vector(one) for one in word], np.float32).reshape(-1, self.width)

    def get(self, word: str, default: Default = None) -> np.ndarray | Default:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The vector of a word, or `default` where it has none."""
        try:
            return self._vector(word)
        except UnknownWord:
            return default

    def row(self, word: str) -> int | None:
        """The place of a word, by falling frequency; None where it has no row."""
        return self._rows.get(word)

    @property
    def width(self) -> int:
        """D."""
        return self.matrix.shape[1]

    @cached_property
    def unit(self) -> np.ndarray:
        """The rows with length 1, (V, D) float32, in memory."""
        return unit_rows(self.matrix)

    @cached_property
    def lower(self) -> bool:
        """Whether no word has a capital letter: questions are then asked in lower case."""
        return all(word == word.lower() for word in self.words)

    @overload
    def near(self, question: str, number: int = 10, *, index: Index | None = None) -> Near: ...
    @overload
    def near(self, question: list[str], number: int = 10, *, index: Index | None = None) -> list[Near]: ...
    @overload
    def near(self, question: ArrayLike, number: int = 10, *, index: Index | None = None) -> Any: ...

    def near(self, question: Any, number: int = 10, *, index: Index | None = None) -> Any:
        """The nearest words with their cosines: of a word or vector one list, of several a list for each.

        A word is not its own answer. Exact, or by an `index`.
        """
        number = fits(Size, number, "number")
        if index is not None and not isinstance(index, Index):
            raise UserError(f"the index is a {type(index).__name__}; allowed: one that vectors.index() has made")
        if index is not None and index.unit.shape != self.matrix.shape:
            raise UserError(f"the index is of {index.unit.shape} vectors, these are {self.matrix.shape}; make it anew")
        question = _listed(question)
        questions, own = self._asked(question)
        wanted = number + any(row is not None for row in own)
        found = nearest(self.unit, questions, wanted) if index is None else index.nearest(questions, wanted)
        of_each = zip(*found, own, strict=True)
        lists = [self._named(rows, cosines, [mine], number) for rows, cosines, mine in of_each]
        single = isinstance(question, str) or (np.ndim(question) == 1 and not _are_words(question))
        return lists[0] if single else lists

    def _asked(self, question: Any) -> tuple[np.ndarray, list[int | None]]:
        """Unit vectors (B, D) of a question, and the row of each that is a word's own."""
        if _are_words(question):
            words = [question] if isinstance(question, str) else list(question)
            return unit_rows(self[words]), [self.row(word) for word in words]
        vectors = checked_vectors(question, self.width)
        return unit_rows(vectors), [None] * len(vectors)

    def _each(self, *asked: Asked) -> np.ndarray:
        """(B, D), each by its word or given as a vector."""
        found = [self._vector(one) if isinstance(one, str) else checked_vectors(one, self.width) for one in asked]
        if any(one.size != self.width for one in found):
            raise UserError("a table of vectors in the place of one; allowed: a word, or a vector")
        return np.array([one.reshape(-1) for one in found], np.float32)

    def _named(self, rows: np.ndarray, scores: np.ndarray, left_out: Sequence[int | None], number: int) -> Near:
        pairs = zip(rows.tolist(), scores.tolist(), strict=True)
        return [(self.words[row], score) for row, score in pairs if row not in left_out][:number]

    def index(self, lists: int | None = None, probes: int = 8, *, seed: int = 1) -> Index:
        """An index for `near`, faster and not exact: `lists` (by default sqrt(V)), of which `probes` are searched."""
        number = max(round(len(self) ** 0.5), 1) if lists is None else fits(Size, lists, "lists")
        return Index(self.unit, number, fits(Size, probes, "probes"), seed)

    def analogy(
        self, a: Asked, b: Asked, c: Asked, number: int = 1, method: Method = "add", *, among: int | None = None
    ) -> Near:
        """a is to b as c is to ?: the best answers with their scores, from the `among` most frequent words or all.

        Each is a word or a vector. Scores of `add` are cosines with b - a + c, of `multiply` Levy and Goldberg's
        product.
        """
        number, among = fits(Size, number, "number"), None if among is None else fits(Size, among, "among")
        analogy.check_method(method)
        asked, own = (
            unit_rows(self._each(a, b, c)),
            [self.row(one) if isinstance(one, str) else None for one in (a, b, c)],
        )
        for word, row in zip((a, b, c), own, strict=True):
            if among is not None and isinstance(word, str) and (row is None or row >= among):
                place = "has no row" if row is None else f"stands in place {row + 1:,}"
                raise UserError(f"among={among}, and the word {word!r} {place}; allowed: words among them: raise it")
        scores = analogy.scores(self.unit[:among], asked, method)
        rows = largest(scores[None], number + 3)[0]
        return self._named(rows, scores[rows], own, number)

    def odd(self, words: Sequence[str]) -> str:
        """The word that is farthest from the mean of all their unit vectors."""
        words = fits(list[str], list(words), "words")
        if len(words) < 3:
            raise UserError(f"the number of words is {len(words)}; allowed: 3 or more, for one to be odd")
        twice = next((word for place, word in enumerate(words) if word in words[:place]), None)
        if twice is not None:
            raise UserError(f"the word {twice!r} is given twice; give each word once")
        unit = unit_rows(self[words])
        return words[int((unit @ unit.mean(0)).argmin())]

    def similarity(self, a: Asked, b: Asked) -> float:
        """The cosine of two words, or vectors."""
        first, second = unit_rows(self._each(a, b)).astype(np.float64)
        return float(np.clip(first @ second, -1, 1))

    def distance(self, a: Asked, b: Asked) -> float:
        """The length of the difference of two words' vectors, or of two vectors."""
        first, second = self._each(a, b).astype(np.float64)
        return float(np.linalg.norm(first - second))

    def _vector(self, word: str) -> np.ndarray:
        row = self._rows.get(word) if isinstance(word, str) else None  # what else there is may not be hashed
        if row is not None:
            return np.array(self.matrix[row])
        found = None if self.spelling is None or not isinstance(word, str) else self.spelling.vector(word)
        if found is None:
            raise UnknownWord(word if isinstance(word, str) else str(word)[:60], self.words, self.allowed)
        return found


def _listed(given: Any) -> Any:
    """An array of words as the list of them, all else as it is."""
    return given.tolist() if isinstance(given, np.ndarray) and given.dtype.kind in "UO" else given


def _are_words(question: Any) -> bool:
    return isinstance(question, Sequence) and all(isinstance(one, str) for one in question)
