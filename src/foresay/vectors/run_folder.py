"""Vectors of a run of Foresay: its tokeniser's words and the memory-mapped tensors of its model, without torch.

    model.safetensors   vectors (V, D) float32   outputs (V, D), or another number of rows   counts (V,) int64
                        pieces (buckets, D), where it was trained with character n-grams
                        embedding.table (V, D) of a language model
    recipe.yaml         spelling: {shortest, longest, buckets}

The marks that every vocabulary begins with are left out, and so are words that training never saw. The tokeniser's
files are checked by their hashes, as `foresay.load` does; the model is not, for that would read all of it.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

import numpy as np

from foresay.errors import UserError
from foresay.text.saved import open_tokens
from foresay.text.tokens import SPECIALS
from foresay.vectors.spelling import Spelling
from foresay.vectors.tensors_file import Tensors
from foresay.yaml12 import parse

TASK, NEURAL, MODEL = "word-vectors", "language-model", "model.safetensors"
WHOLE = ("words", "blanks")  # tokens that are words
Which = Literal["input", "output", "both"]
Read = tuple[list[str], np.ndarray, np.ndarray | None, Spelling | None]


def is_run(path: Path) -> bool:
    return (path / "config.json").is_file()


def read(folder: Path, which: Which) -> Read:
    """Words by falling count, their vectors and counts, and the n-grams where there are some."""
    task = _check_config(folder)
    tensors, tokens = Tensors(folder / MODEL), open_tokens(folder)
    words = tokens.pieces(range(len(tokens)))
    if task == NEURAL:
        return _embedding(folder, tensors, words, which)
    vectors, counts = tensors.rows("vectors"), tensors["counts"]
    if not len(words) == len(vectors) == len(counts) or counts.dtype != np.int64 or counts.ndim != 1:
        shapes = f"vectors {vectors.shape}, counts {counts.shape}"
        raise UserError(f"{folder / MODEL} is not of this run: {len(words)} symbols, but {shapes}; copy it again")
    kept = _kept(counts)
    if not len(kept):
        raise UserError(f"{folder} knows no word that its text holds; train it on more text")
    matrix = _rows(vectors if which == "input" else _others(folder, tensors, vectors, which), kept)
    spelling = _spelling(folder, tensors, vectors.shape[1]) if which == "input" else None
    return [words[row] for row in kept.tolist()], matrix, _rows(counts, kept), spelling


def allowed(folder: Path) -> str:
    """What the vectors are of: words, or the pieces of a tokeniser that cuts them."""
    kind = json.loads((folder / "text.json").read_text("utf-8"))["tokens"]["kind"]
    return "words of the vectors" if kind in WHOLE else f"pieces (tokens={kind}) of {folder}"


def diverged(folder: Path) -> UserError:
    """Of a run that was saved with vectors that are no numbers."""
    rate = "lr" if _check_config(folder) == TASK else "train.lr"
    return UserError(
        f"{folder} holds vectors that are no numbers: its training diverged; train again, with a lower {rate}"
    )


def _embedding(folder: Path, tensors: Tensors, words: list[str], which: Which) -> Read:
    """The table that a language model has learnt, in the order of its vocabulary."""
    if "embedding.table" not in tensors or which != "input":
        raise UserError(
            f"{folder} is a {NEURAL} that keeps no {which} vectors; allowed: which=input, of one with a table"
        )
    vectors = tensors.rows("embedding.table")
    if len(vectors) != len(words):
        raise UserError(
            f"{folder / MODEL} is not of this run: {len(words)} symbols, but {len(vectors)} vectors; copy it again"
        )
    return words[len(SPECIALS) :], vectors[len(SPECIALS) :], None, None


def _check_config(folder: Path) -> str:
    """The task of a run that is whole."""
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text("utf-8"))
        task, hashes = config["task"], dict(config["sha256"])
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        raise UserError(f"{path} is damaged or not of Foresay; give the folder of a run, or a file") from None
    if task not in (TASK, NEURAL):
        raise UserError(f"{folder} is a {task}; allowed: a run of task {TASK} or {NEURAL}, or a file of vectors")
    if MODEL not in hashes:
        raise UserError(f"{folder} is not finished; train it to its end: foresay train --resume {folder}")
    for name in ("tokenizer.json", "text.json", MODEL):
        if not (folder / name).is_file():
            raise UserError(f"{folder / name} is missing; copy it back")
        if name != MODEL and hashlib.sha256((folder / name).read_bytes()).hexdigest() != hashes.get(name):
            raise UserError(f"{folder / name} is damaged: its SHA-256 is not config.json's; copy it again")
    return task


def _kept(counts: np.ndarray) -> np.ndarray:
    """The symbols that are words of the text, by falling count."""
    kept = np.flatnonzero(counts > 0)
    kept = kept[kept >= len(SPECIALS)]
    return kept[np.argsort(-counts[kept], kind="stable")]


def _rows(array: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Rows of an array; a stretch of it stays where it is, on the disk."""
    first = int(kept[0])
    if np.array_equal(kept, np.arange(first, first + len(kept))):
        return array[first : first + len(kept)]
    return array[kept]


def _others(folder: Path, tensors: Tensors, vectors: np.ndarray, which: Which) -> np.ndarray:
    """The output vectors, alone or beside the input ones."""
    if "outputs" not in tensors:
        raise UserError(f"{folder} keeps no output vectors; allowed: which=input")
    outputs = tensors.rows("outputs")
    if len(outputs) != len(vectors):
        raise UserError(
            f"{folder} has {len(outputs)} output vectors for {len(vectors)} symbols (of a tree); allowed: which=input"
        )
    return outputs if which == "output" else np.concatenate([vectors, outputs], 1)


def _spelling(folder: Path, tensors: Tensors, width: int) -> Spelling | None:
    if "pieces" not in tensors:
        return None
    path = folder / "recipe.yaml"
    try:
        recipe: Any = parse(path.read_text("utf-8"), str(path))
        shortest, longest, buckets = (recipe["spelling"][name] for name in ("shortest", "longest", "buckets"))
    except (OSError, ValueError, TypeError, LookupError):
        raise UserError(f"{path} says nothing of the n-grams (spelling) of {MODEL}; copy it back") from None
    table = tensors.rows("pieces", width)
    if len(table) != buckets:
        raise UserError(f"{folder / MODEL} has {len(table)} n-grams, and {path} {buckets}; copy the run again")
    return Spelling(shortest, longest, table)
