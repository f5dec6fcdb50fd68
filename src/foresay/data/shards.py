"""Token shards: the ids of a corpus on disk, memory-mapped, read in any order.

00000.bin 00001.bin ...  ids, little-endian, uint16 when V <= 65536, else uint32; each document's ids, then STOP
documents.bin            int64: where each document ends in the flat stream (after its STOP)
meta.json                counts and sizes; a file of another size is refused
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import BinaryIO, Self

import numpy as np

from foresay.errors import UserError
from foresay.text.tokens import STOP

SHARD = 2**26  # tokens in one file
PROGRESS = "progress.json"


@dataclass
class Meta:
    """What `meta.json` holds."""

    tokens: int = 0  # STOPs included
    documents: int = 0
    characters: int = 0  # of the text; a line counts its newline
    bytes: int = 0
    repeated: int = 0  # lines or rows that stand in train before
    vocabulary: int = 0
    dtype: str = "uint16"
    shard: int = SHARD


class ShardWriter:
    """Writes the shards of one part of a corpus into a folder; a context manager; `finish` writes `meta.json` last.

    `keep` notes in `progress.json` what is safely on the disk; a writer of the same folder goes on from there.
    """

    def __init__(self, folder: Path, vocabulary: int, shard: int = SHARD):
        self.folder = folder
        self.meta = Meta(vocabulary=vocabulary, dtype="uint16" if vocabulary <= 2**16 else "uint32", shard=shard)
        self.notes: dict[str, int] = {}  # the caller's own figures, kept with the others
        if not self._go_on():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        size = np.dtype(self.meta.dtype).itemsize
        count = max(-(-self.meta.tokens // shard), 1)
        lengths = [min(shard, self.meta.tokens - i * shard) * size for i in range(count)]
        self.files = [_opened(folder / _name(i), length) for i, length in enumerate(lengths)]
        self.documents = _opened(folder / "documents.bin", 8 * self.meta.documents)

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

    def keep(self) -> None:
        """Puts what was added on the disk and notes that it is there."""
        self._sync()
        _write_json(self.folder / PROGRESS, {"meta": asdict(self.meta), "notes": self.notes})

    def finish(self) -> None:
        """Puts everything on the disk; without it the shards cannot be opened."""
        self._sync()
        _write_json(self.folder / "meta.json", asdict(self.meta))
        (self.folder / PROGRESS).unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for file in (*self.files, self.documents):
            with contextlib.suppress(OSError):  # a full disk has been told of by the error that ended the writing
                file.close()

    def _go_on(self) -> bool:
        """Takes over what a writer that was killed had kept; False when there is nothing of the same kind."""
        try:
            kept = json.loads((self.folder / PROGRESS).read_text(encoding="utf-8"))
            meta, notes = Meta(**kept["meta"]), dict(kept["notes"])
        except (OSError, ValueError, KeyError, TypeError):
            return False
        if (meta.vocabulary, meta.dtype, meta.shard) != (self.meta.vocabulary, self.meta.dtype, self.meta.shard):
            return False
        self.meta, self.notes = meta, notes
        return True

    def _sync(self) -> None:
        for file in (self.files[-1], self.documents):
            file.flush()
            os.fsync(file.fileno())

    def _append(self, ids: np.ndarray) -> None:
        while len(ids):
            room = self.meta.shard * len(self.files) - self.meta.tokens
            if room == 0:
                self._sync()
                self.files.append(_opened(self.folder / _name(len(self.files)), 0))
                continue
            self.files[-1].write(ids[:room].tobytes())
            self.meta.tokens += min(room, len(ids))
            ids = ids[room:]


def _opened(path: Path, length: int) -> BinaryIO:
    """A file to write on from `length`; what stands after it was not kept and goes."""
    file = path.open("r+b" if length else "wb")
    file.truncate(length)
    file.seek(length)
    return file


def _write_json(path: Path, value: object) -> None:
    aside = path.with_suffix(".tmp")
    with aside.open("w", encoding="utf-8") as file:
        json.dump(value, file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)


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

    def given(self, where: Sequence[tuple[int, int]], width: int) -> np.ndarray | None:
        """The number of the label of each token's text, for spans (start, count): (B, width); None without labels."""
        return None


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
    return np.memmap(path, dtype=dtype, mode="r", shape=(count,)).view(np.ndarray)  # a memmap's slices are slow to make
