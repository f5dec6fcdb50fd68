"""Vectors as a .safetensors file, memory-mapped: opening it takes no memory for the numbers.

8 bytes n   n bytes of JSON {"vectors": {"dtype": "F32", "shape": [V, D], "data_offsets": [0, 4VD]}, ...}   the numbers

vectors (V, D) float32   counts (V,) int64, where known   pieces (buckets, D) float32, of a spelling
__metadata__             words: a JSON list of V strings;  spelling: {"shortest": 3, "longest": 6}
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from foresay.errors import UserError
from foresay.vectors.opening import written
from foresay.vectors.spelling import Spelling

TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4"}
LONGEST = 100_000_000  # bytes of a header, as the library allows


class Tensors:
    """The tensors of a file by name, mapped when asked for, and its metadata."""

    def __init__(self, path: Path):
        self.path, self.size = path, path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 2 <= length <= min(self.size - 8, LONGEST):
                raise self.wrong(f"byte 0: a header of {length} bytes is declared in a file of {self.size}")
            text = file.read(length)
        self.begin = 8 + length
        try:
            header = json.loads(text)
        except (ValueError, RecursionError):
            header = None
        if not (isinstance(header, dict) and all(isinstance(value, dict) for value in header.values())):
            raise self.wrong("byte 8: the header is no table of tensors")
        self.metadata: dict[str, Any] = header.pop("__metadata__", {})
        self.header: dict[str, dict[str, Any]] = header

    def wrong(self, what: str) -> UserError:
        return UserError(f"{self.path} {what}; write the file again")

    def __contains__(self, name: str) -> bool:
        return name in self.header

    def __getitem__(self, name: str) -> np.ndarray:
        """The tensor, read-only, as it lies in the file."""
        if name not in self.header:
            raise UserError(f"{self.path} holds {', '.join(sorted(self.header))}; it needs a tensor named {name}")
        kind, shape, begin = self._described(name)
        return np.memmap(self.path, kind, "r", self.begin + begin, tuple(shape))

    def get(self, name: str) -> np.ndarray | None:
        if name not in self:
            return None
        return self[name]

    def rows(self, name: str, width: int | None = None) -> np.ndarray:
        """A matrix of numbers, float32."""
        found = self[name]
        if found.ndim != 2 or found.dtype.kind != "f" or width not in (None, found.shape[1]):
            raise self.wrong(f"tensor {name}: {found.dtype} of shape {found.shape} is no matrix of such vectors")
        return found if found.dtype == np.float32 else np.asarray(found, np.float32)

    def _described(self, name: str) -> tuple[str, list[int], int]:
        about = self.header[name]
        kind, shape, offsets = about.get("dtype"), about.get("shape"), about.get("data_offsets")
        if not (isinstance(kind, str) and kind in TYPES):
            raise self.wrong(f"tensor {name}: its type {str(kind)[:20]} is none of {' '.join(TYPES)}")
        if not (_numbers(shape) and _numbers(offsets) and len(offsets) == 2 and math.prod(shape) > 0):
            raise self.wrong(f"tensor {name}: shape {str(shape)[:40]} at {str(offsets)[:40]} is no place in a file")
        begin, end = offsets
        length = math.prod(shape) * np.dtype(TYPES[kind]).itemsize
        if end - begin != length or end > self.size - self.begin or len(shape) > 2:
            what = f"shape {str(shape)[:40]} needs {length} bytes, and {begin} to {end} of {self.size - self.begin}"
            raise self.wrong(f"tensor {name}: {what} are declared")
        return TYPES[kind], shape, begin

    def words(self) -> list[str] | None:
        """The words of its metadata; None where it has none."""
        found = self._said("words")
        if found is not None and not (isinstance(found, list) and all(isinstance(word, str) for word in found)):
            raise self.wrong("metadata: words is no list of words")
        return found

    def spelling(self, width: int) -> Spelling | None:
        """The n-grams, where it has them."""
        found = self._said("spelling")
        if found is None:
            return None
        lengths = [found.get(name) for name in ("shortest", "longest")] if isinstance(found, dict) else None
        if not _numbers(lengths):
            raise self.wrong("metadata: spelling has no shortest and longest")
        return Spelling(lengths[0], lengths[1], self.rows("pieces", width))

    def _said(self, name: str) -> Any:
        text = self.metadata.get(name)
        try:
            return None if text is None else json.loads(text)
        except (ValueError, TypeError, RecursionError):
            raise self.wrong(f"metadata: {name} is no JSON") from None


def _numbers(value: object) -> TypeGuard[list[int]]:
    """Whether something is a list of whole numbers that can be a place in a file."""
    return isinstance(value, list) and all(type(one) is int and 0 <= one < 1 << 62 for one in value)


def write(
    path: Path, words: list[str], matrix: np.ndarray, counts: np.ndarray | None, spelling: Spelling | None
) -> None:
    """Writes the tensors as they are, one after the other."""
    metadata, tensors = {"words": json.dumps(words, ensure_ascii=False)}, {"vectors": np.asarray(matrix, "<f4")}
    if counts is not None:
        tensors["counts"] = np.asarray(counts, "<i8")
    if spelling is not None:
        tensors["pieces"] = np.asarray(spelling.table, "<f4")
        metadata["spelling"] = json.dumps({"shortest": spelling.shortest, "longest": spelling.longest})
    header: dict[str, Any] = {"__metadata__": metadata}
    at = 0
    for name, array in tensors.items():
        kind = "I64" if name == "counts" else "F32"
        header[name] = {"dtype": kind, "shape": array.shape, "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > LONGEST:
        raise UserError(f"the words take {len(text)} bytes, and a .safetensors file holds {LONGEST}; save as .bin")
    with written(path) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in tensors.values():
            file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
