"""Files and folders that appear whole or not at all: written aside, flushed to the disk, renamed into place.

.NAME.PROCESS   what is being written as NAME; a killed writer leaves it, and `left_over` knows it again
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

_LEFT_OVER = re.compile(r"\.(.+)\.\d+")


def write_file(path: Path, data: bytes) -> None:
    """A file that appears whole or not at all."""
    with aside(path) as place:
        write_flushed(place, data)


def write_tensors(path: Path, named: dict[str, Tensor]) -> None:
    """A safetensors file that appears whole or not at all."""
    with aside(path) as place:
        write_tensors_flushed(place, named)


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """A place beside `path` for a file or folder, which takes the place of `path` when all went well."""
    place = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        remove(place)  # of a killed process that had our number
        yield place
        place.rename(path)
        sync(path.parent)
    except BaseException as error:
        remove(place)
        if isinstance(error, OSError) and error.filename == str(place):
            error.filename = str(path)  # as it was asked for
        raise


def left_over(path: Path) -> str | None:
    """The name under which a killed writer wanted to put what it left at `path`; None for anything else."""
    found = _LEFT_OVER.fullmatch(path.name)
    return found[1] if found else None


def write_flushed(path: Path, data: bytes) -> str:
    """Writes a file through to the disk, in place; its SHA-256."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return hashlib.sha256(data).hexdigest()


def write_tensors_flushed(path: Path, named: dict[str, Tensor], about: dict[str, str] | None = None) -> str:
    """Writes a safetensors file through to the disk, in place; its SHA-256."""
    try:
        path.touch()
        mode = path.stat().st_mode  # of a new file here; the library's own are for their owner alone
        save_file({key: tensor.contiguous().cpu() for key, tensor in named.items()}, path, about)
        path.chmod(mode)
    except SafetensorError as error:  # it wraps the operating system's error in words
        raise OSError(errno.EIO, str(error), str(path)) from None
    with path.open("rb+") as file:
        os.fsync(file.fileno())
    return file_hash(path)


def file_hash(path: Path) -> str:
    """SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remove(path: Path) -> None:
    """A file or a whole folder, where it is there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def sync(folder: Path) -> None:
    """Flushes the names in a folder to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
