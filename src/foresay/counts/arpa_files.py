r"""ARPA files as they lie on the disk: which files are ones, and what is in them, unpacked.

A file in the place of a run is told by its name (.arpa, .lm, packed or not), any other by a line \data\ near its
beginning: a heading may stand before it. Reading needs no torch, which `data.compressed` comes with.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import shlex
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from foresay.errors import UserError

NAMES = (".arpa", ".lm")
LOOK = 2**16  # bytes in which the line must begin
LINE = b"\\data\\"
UNPACK = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}  # by how a file begins
ZSTD = b"\x28\xb5\x2f\xfd"
NOT_WRITTEN = (".bz2", ".xz", ".zst", ".zstd")
BROKEN = (EOFError, OSError, zlib.error, lzma.LZMAError)


def is_arpa(path: Path) -> bool:
    """Whether a file holds n-grams, or should, by its name."""
    if not path.is_file():
        return False
    if any(end in NAMES for end in path.suffixes[-2:]):
        return True
    try:
        with opened(path) as file:
            return LINE in [line.strip() for line in file.read(LOOK).split(b"\n")]
    except UserError:
        return False


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """What is in a file; what cannot be read is told in a line."""
    if path.is_dir():
        raise UserError(f"{path} is a folder; give the path of an ARPA file, or open a run by WordModel.load")
    try:
        with path.open("rb") as raw:
            first = raw.read(8)
        if first.startswith(ZSTD):
            raise UserError(f"{path} is packed with zstd; unpack it first: zstd -d {shlex.quote(str(path))}")
        unpack = next((unpack for magic, unpack in UNPACK.items() if first.startswith(magic)), None)
        with path.open("rb") if unpack is None else unpack(path, "rb") as file:
            yield cast("BinaryIO", file)
    except FileNotFoundError:
        raise UserError(f"{path} is missing; give the path of an ARPA file") from None
    except BROKEN as error:
        raise UserError(f"{path} cannot be read to its end: {error}; copy it again") from None


def check_place(path: Path) -> None:
    """Refuses a place where no ARPA file can be written."""
    if path.is_dir():
        raise UserError(f"{path} is a folder; arpa is one file: give {path / 'model.arpa'}")
    if not path.parent.is_dir():
        raise UserError(f"{path.parent} is no folder; make it first, or give another place")
    if path.suffix in NOT_WRITTEN:
        plain = path.with_suffix("")
        raise UserError(f"{path}: an ARPA file is packed with gzip, or not at all; give {plain}.gz, or {plain}")
