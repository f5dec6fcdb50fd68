"""To and from gensim's KeyedVectors, in memory; its files are pickles and are not read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from foresay.errors import UserError
from foresay.extras import need
from foresay.vectors.spelling import Spelling

if TYPE_CHECKING:
    from foresay.vectors.word_vectors import WordVectors


def to_gensim(vectors: WordVectors) -> Any:
    """A `gensim.models.KeyedVectors` with the same words, a copy of the matrix and the counts."""
    models = need("gensim.models", "gensim", "to_gensim")
    found = models.KeyedVectors(vectors.width)
    found.add_vectors(vectors.words, np.array(vectors.matrix))
    for word, count in zip(vectors.words, [] if vectors.counts is None else vectors.counts.tolist(), strict=False):
        found.set_vecattr(word, "count", count)
    return found


def parts_of(keyed: Any) -> dict[str, Any]:
    """What WordVectors is made of, from KeyedVectors or FastTextKeyedVectors, or from a model that has some (`.wv`)."""
    keyed = getattr(keyed, "wv", keyed)
    words, matrix = getattr(keyed, "index_to_key", None), getattr(keyed, "vectors", None)
    if words is None or not isinstance(matrix, np.ndarray):
        raise UserError(f"{type(keyed).__name__} has no words and vectors; give gensim's KeyedVectors")
    given: dict[str, Any] = {"words": list(words), "matrix": matrix[: len(words)].copy()}
    counts = keyed.expandos.get("count")
    if counts is not None and len(counts) == len(words):
        given["counts"] = np.asarray(counts, np.int64)
    if getattr(keyed, "vectors_ngrams", None) is not None:
        given["spelling"] = Spelling(keyed.min_n, keyed.max_n, np.array(keyed.vectors_ngrams, np.float32))
    return given
