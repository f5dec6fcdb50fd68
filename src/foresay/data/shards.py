"""Token shards: the ids of a corpus on disk, memory-mapped, read in any order.

00000.bin 00001.bin ...  ids, little-endian, uint16 when V <= 65536, else uint32; each document's ids, then STOP
documents.bin            int64: where each document ends in the flat stream (after its STOP)
meta.json                counts and sizes; a file of another size is refused
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Self

import numpy as np

from foresay.errors import UserError
from foresay.text.tokens import STOP

SHARD = 2**26  # tokens in one file


@dataclass
class Meta:
    """What `meta.json` holds."""

    tokens: int = 0  # STOPs included
    documents: int = 0
    characters: int = 0  # of the text; a line counts its newline
    bytes: int = 0
    vocabulary: int = 0
    dtype: str = "uint16"
    shard: int = SHARD


class ShardWriter:
    """Writes the shards of one part of a corpus into a folder; a context manager; `finish` writes `meta.json` last."""

    def __init__(self, folder: Path, vocabulary: int, shard: int = SHARD):
        folder.mkdir(parents=True)
        self.folder = folder
        self.meta = Meta(vocabulary=vocabulary, dtype="uint16" if vocabulary <= 2**16 else "uint32", shard=shard)
        self.files = [(folder / _name(0)).open("wb")]
        self.documents = (folder / "documents.bin").open("wb")

    def add(self, texts: Sequence[np.ndarray], last: bool = True) -> None:
        """Appends the ids of texts, each a document; without `last` the final one goes on in the next call."""
        lengths = np.array([len(ids) for ids in texts], dtype=np.int64)
        flat = np.concatenate([part for ids in texts for part in (ids, _STOP)])
        ends = np.cumsum(lengths + 1) + self.meta.tokens
        if not last:
            flat, ends = flat[:-1], ends[:-1]
        self._append(flat.astype(np.dtype(self.meta.dtype).newbyteorder("<")))
        self.documents.write(ends.astype("<i8").tobytes())
        self.meta.documents += len(ends)

    def finish(self) -> None:
        """Puts everything on the disk; without it the shards cannot be opened."""
        for file in (*self.files, self.documents):
            file.flush()
            os.fsync(file.fileno())
        with (self.folder / "meta.json").open("w") as file:
            json.dump(asdict(self.meta), file, indent=2)
            file.flush()
            os.fsync(file.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for file in (*self.files, self.documents):
            with contextlib.suppress(OSError):  # a full disk has been told of by the error that ended the writing
                file.close()

    def _append(self, ids: np.ndarray) -> None:
        while len(ids):
            room = self.meta.shard * len(self.files) - self.meta.tokens
            if room == 0:
                self.files.append((self.folder / _name(len(self.files))).open("wb"))
                continue
            self.files[-1].write(ids[:room].tobytes())
            self.meta.tokens += min(room, len(ids))
            ids = ids[room:]


class Shards:
    """The ids of one part of a corpus: `len`, `slice(a, b)`, `ends` of the documents."""

    def __init__(self, folder: Path):
        self.folder = Path(folder)
        meta = _read_meta(self.folder / "meta.json")
        self.meta = meta
        self.characters, self.bytes, self.vocabulary = meta.characters, meta.bytes, meta.vocabulary
        dtype = np.dtype(meta.dtype).newbyteorder("<")
        sizes = [min(meta.shard, meta.tokens - start) for start in range(0, max(meta.tokens, 1), meta.shard)]
        self.files = [_map(self.folder / _name(i), dtype, size) for i, size in enumerate(sizes)]
        self.ends = _map(self.folder / "documents.bin", np.dtype("<i8"), meta.documents)

    def __len__(self) -> int:
        """How many tokens, the STOP of each document included."""
        return self.meta.tokens

    @property
    def documents(self) -> int:
        return self.meta.documents

    def slice(self, start: int, stop: int) -> np.ndarray:
        """Tokens start..stop of the flat stream as int64, across files."""
        size = self.meta.shard
        stop = min(stop, len(self))
        first, last = start // size, (max(stop, 1) - 1) // size
        if first == last:
            return self.files[first][start - first * size : stop - first * size].astype(np.int64)
        found = [self.files[i][max(start - i * size, 0) : stop - i * size] for i in range(first, last + 1)]
        return np.concatenate([np.empty(0, np.int64), *found])


_STOP = np.array([STOP], dtype=np.uint32)


def _name(number: int) -> str:
    return f"{number:05d}.bin"


def _read_meta(path: Path) -> Meta:
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
        meta = Meta(**given)
        whole = all(type(getattr(meta, f.name)) is type(f.default) for f in fields(meta))
    except FileNotFoundError:
        raise UserError(f"{path} is missing; delete {path.parent} and prepare again") from None
    except (ValueError, TypeError):
        whole = False
        meta = Meta()
    if not whole or meta.dtype not in ("uint16", "uint32") or meta.shard < 1:
        raise UserError(f"{path} is damaged; delete {path.parent} and prepare again")
    return meta


def _map(path: Path, dtype: np.dtype, count: int) -> np.ndarray:
    """A file of `count` numbers as an array that is read when it is used."""
    wanted = count * dtype.itemsize
    try:
        found = path.stat().st_size
    except FileNotFoundError:
        raise UserError(f"{path} is missing; delete {path.parent} and prepare again") from None
    if found != wanted:
        raise UserError(f"{path} is damaged: {found} bytes, not {wanted}; delete {path.parent} and prepare again")
    if count == 0:  # an empty file cannot be mapped
        return np.empty(0, dtype=dtype)
    return np.memmap(path, dtype=dtype, mode="r", shape=(count,))
