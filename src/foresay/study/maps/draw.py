"""`draw_map`: which words, where they lie on the plane, and into which file they go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from foresay import parts
from foresay.errors import UserError, nearest
from foresay.extras import need
from foresay.study.maps.map import Map
from foresay.study.maps.project import METHODS, Method, project

PICTURES, PAGE = (".png", ".svg"), ".html"
Colour = Literal["frequency"] | Mapping[str, str] | None


class Vectors(Protocol):
    """Word vectors: `matrix` (V, D) has a row for each of `words`; `counts` (V,) where they are known."""

    @property
    def words(self) -> Sequence[str]: ...
    @property
    def matrix(self) -> np.ndarray: ...
    @property
    def counts(self) -> np.ndarray | None: ...
    def __getitem__(self, word: str, /) -> np.ndarray: ...


def draw_map(
    vectors: Vectors,
    out: str | Path,
    *,
    method: Method = "tsne",
    words: Sequence[str] | None = None,
    number: int = 500,
    colour: Colour = None,
    seed: int = 1,
    title: str | None = None,
) -> Map:
    """Writes a map of word vectors: `out` ends in .png or .svg for a picture, in .html for an interactive page.

    `words` are those given, or those of a mapping word -> group given as `colour`, or else the `number` most frequent.
    Words without a vector are left out and named in the answer's `missing`. The same seed gives the same map.
    """
    path = check_name(Path(out))
    _check_method(method)
    _check_colour(colour, vectors)
    seed, number = parts.fits(parts.Count, seed, "seed"), parts.fits(parts.Size, number, "number")
    if words is None and isinstance(colour, Mapping):
        words = list(colour)
    kept, rows, missing = find_rows(vectors, words, number)
    points, note = project(rows, method, seed)
    counts = _counts(vectors, kept)
    groups = colour if isinstance(colour, Mapping) else None
    heading = title if title is not None else _title(len(kept), words is None)
    found = Map(kept, points, counts, groups, heading, note, missing, by_frequency=colour == "frequency")
    _write(found, path)
    return found


def check_name(path: Path) -> Path:
    """The path of a map, refused before the work unless it can be written."""
    if path.suffix.lower() not in (*PICTURES, PAGE):
        raise UserError(f"a map as {path}; allowed: a name that ends in {', '.join((*PICTURES, PAGE))}")
    if path.suffix.lower() == PAGE:
        need("plotly.io", "maps", f"an interactive map ({path.name})")
    if not path.absolute().parent.is_dir():
        raise UserError(f"a map as {path}, but {path.parent} is no folder; make it or give another place")
    return path


def _write(found: Map, path: Path) -> None:
    if path.suffix.lower() == PAGE:
        from foresay.study.maps.page import write_page

        write_page(found, path)
    else:
        from foresay.study.maps.picture import write_map_picture

        write_map_picture(found, path)


def find_rows(vectors: Vectors, words: Sequence[str] | None, number: int) -> tuple[list[str], np.ndarray, list[str]]:
    """The words to draw, most frequent first unless they are given, their vectors (N, D), and those without one."""
    if words is None:
        order = _most_frequent(vectors, number)
        kept, rows, missing = [vectors.words[int(i)] for i in order], np.asarray(vectors.matrix)[order], []
    else:
        wanted = list(dict.fromkeys(words))
        found = {word: row for word in wanted if (row := _vector(vectors, word)) is not None}
        kept, rows, missing = list(found), np.array(list(found.values())), [w for w in wanted if w not in found]
    if len(kept) < 2:
        unknown = f" ({', '.join(map(repr, missing[:5]))} have none)" if missing else ""
        raise UserError(f"{len(kept)} of the words given have a vector{unknown}; a map needs two: give more words")
    return kept, rows, missing


def _most_frequent(vectors: Vectors, number: int) -> np.ndarray:
    """The places of the most frequent words; without counts, of the first ones."""
    if vectors.counts is None:
        return np.arange(min(number, len(vectors.words)))
    return np.argsort(-np.asarray(vectors.counts, np.float64), kind="stable")[:number]


def _vector(vectors: Vectors, word: str) -> np.ndarray | None:
    """Also of a word out of the vocabulary, where the vectors make one up from its letters."""
    try:
        return np.asarray(vectors[word])
    except (KeyError, UserError):
        return None


def _counts(vectors: Vectors, kept: list[str]) -> np.ndarray | None:
    """How often each word occurs, where that is known; 0 for one that is not in the vocabulary."""
    if vectors.counts is None:
        return None
    known = dict(zip(reversed(vectors.words), reversed(vectors.counts), strict=True))
    return np.array([known.get(word, 0) for word in kept], np.float64)


def _check_colour(colour: Colour, vectors: Vectors) -> None:
    if colour is not None and colour != "frequency" and not isinstance(colour, Mapping):
        raise UserError(f"colour={colour!r}; allowed: 'frequency', a group for each word, or None")
    if colour == "frequency" and vectors.counts is None:
        raise UserError("colour='frequency', but these vectors come without counts; use groups, or no colour")


def _check_method(method: str) -> None:
    if method not in METHODS:
        raise UserError(f"method={method!r}; allowed: {', '.join(METHODS)}{nearest(str(method), METHODS)}")


def _title(number: int, frequent: bool) -> str:
    return f"The {number:,} most frequent words" if frequent else f"{number:,} words"
