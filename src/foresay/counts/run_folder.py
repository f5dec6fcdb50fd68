"""The n-gram model of a run, memory-mapped: opening it takes no time and no memory for the table, and no torch.

    model.safetensors   8 bytes n   n bytes of JSON {"grams": {"dtype": "I32", "shape": [N, 3], ...}, ...}   the numbers

The tokeniser's files are checked by their hashes, as `foresay.load` does; of the model only the shapes are, for more
would read all of it: what it says is checked when it is first walked.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from foresay.counts.table import Table
from foresay.errors import UserError
from foresay.text.blanks import Blanks
from foresay.text.saved import open_tokens

TASK, MODEL = "ngram", "model.safetensors"
TYPES = {"I64": "<i8", "I32": "<i4", "F32": "<f4"}
LONGEST = 1 << 20  # bytes of a header


def read(folder: Path) -> tuple[Table, list[str]]:
    """The table, which stays on the disk, and the words."""
    _check_config(folder)
    tokens = open_tokens(folder)
    if not isinstance(tokens, Blanks) or any(tokens.settings.get(name) for name in ("normalise", "stem", "phrases")):
        kind = getattr(tokens, "part_name", "")
        raise UserError(
            f"{folder} has tokens {kind}, and here words are what blanks separate; allowed: tokens=blanks, nothing "
            "before it; use foresay.load"
        )
    try:
        arrays = _arrays(folder / MODEL)
        return Table(**arrays), tokens.pieces(range(len(tokens)))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise UserError(f"{folder / MODEL} is damaged or not of an n-gram run; copy it again") from None


def _arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays as they lie in the file; changes to them stay in memory."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header: dict[str, Any] = json.loads(file.read(min(length, LONGEST)))
    found = {}
    for field in fields(Table):
        about = header[field.name]
        kind, shape, (begin, end) = TYPES[about["dtype"]], tuple(about["shape"]), about["data_offsets"]
        if end - begin != math.prod(shape) * np.dtype(kind).itemsize:
            raise ValueError(field.name)
        if not math.prod(shape):  # nothing cannot be mapped
            found[field.name] = np.zeros(shape, kind)
            continue
        array = np.asarray(np.memmap(path, kind, "c", 8 + length + begin, shape))
        aligned = (8 + length + begin) % 8 == 0  # contexts are read eight bytes at a time too
        found[field.name] = array if aligned or field.name == "grams" else np.array(array)
    return found


def _check_config(folder: Path) -> None:
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text("utf-8"))
        task, hashes = config["task"], dict(config["sha256"])
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        raise UserError(f"{path} is missing, damaged or not of Foresay; give the folder of an n-gram run") from None
    if task != TASK:
        raise UserError(f"{folder} is a {task}; allowed: a run of task {TASK}: train kneser-ney or ngram")
    if MODEL not in hashes:
        raise UserError(f"{folder} is not finished; train it again")
    for name in ("tokenizer.json", "text.json"):
        try:
            found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        except OSError:
            raise UserError(f"{folder / name} is missing; copy it back") from None
        if found != hashes.get(name):
            raise UserError(f"{folder / name} is damaged: its SHA-256 is not config.json's; copy it again")
