"""Vectors that a table begins with: of a file or a run of word vectors, matched by word, or a tensor as it stands.

any file of vectors (word2vec, GloVe, fastText's .vec, .safetensors with words) or a run: row of a symbol = its word's
.safetensors without words: a tensor `vectors` (V, D), rows in vocabulary order
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from foresay.errors import UserError
from foresay.vectors.word_vectors import WordVectors


def is_in_order(path: str) -> bool:
    """Whether a file has a row for each symbol, and no words."""
    from safetensors import SafetensorError, safe_open

    if not Path(path).exists():
        raise UserError(f"pretrained={path!r} is no file; give a file of word vectors, or a run of task word-vectors")
    if Path(path).is_dir() or not path.endswith(".safetensors"):
        return False
    try:
        with safe_open(path, framework="pt") as file:
            return "words" not in (file.metadata() or {})
    except SafetensorError:
        raise UserError(f"pretrained={path!r} cannot be read as .safetensors; write it again") from None


def read_in_order(path: str, vocabulary: int, size: int) -> Tensor:
    """The tensor `vectors` of a .safetensors file, refused unless its shape is (vocabulary, size)."""
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        if "vectors" not in file.keys():  # noqa: SIM118 - not a dict
            raise UserError(f"pretrained={path!r} holds {sorted(file.keys())}; it needs a tensor named vectors")
        vectors = file.get_tensor("vectors").float()
    if vectors.shape != (vocabulary, size):
        given, needed = tuple(vectors.shape), (vocabulary, size)
        raise UserError(f"pretrained={path!r} has shape {given}; needed (vocabulary, size) = {needed}")
    return vectors


def fill(table: Tensor, path: str, symbols: Sequence[str] | None, *, frozen: bool = False) -> str:
    """Puts the vectors of a file's words in the place of their symbols' rows (V, D); how many there were, in words."""
    places, vectors = matched(path, symbols)
    if vectors.shape[1] != table.shape[1]:
        raise UserError(
            f"pretrained={path!r} has vectors of {vectors.shape[1]} numbers, and size={table.shape[1]}; "
            f"set size={vectors.shape[1]}, or give other vectors"
        )
    table[places] = vectors
    found, rest = (
        f"{len(places):,} of {len(table):,} symbols begin with their vectors of {path}",
        len(table) - len(places),
    )
    if frozen and rest:
        return f"{found}; the other {rest:,} begin at random and stay so, for the table is frozen"
    return f"{found}, the others at random"


def matched(path: str, symbols: Sequence[str] | None) -> tuple[list[int], Tensor]:
    """Which of the symbols a file has vectors of, and these vectors."""
    if symbols is None:
        raise UserError(
            f"pretrained={path!r} has words, and this model was built without its symbols; set embedding.symbols"
        )
    vectors = WordVectors.load(path)
    rows = {place: vectors.row(symbol) for place, symbol in enumerate(symbols)}
    known = {place: row for place, row in rows.items() if row is not None}
    if not known:
        raise UserError(
            f"pretrained={path!r} has none of the {len(symbols):,} symbols, but words such as {vectors.words[0]!r}; "
            "use tokens of whole words, spelt as there"
        )
    return list(known), torch.from_numpy(vectors.matrix[list(known.values())])
