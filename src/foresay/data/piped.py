"""Standard input as a text: kept in a file of the cache, because a text is read more than once.

The file is named by its contents, so the same pipe twice is one file, and a run that is resumed finds it again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path
from typing import BinaryIO

from foresay.data.cache import cache_folder
from foresay.errors import UserError

_BLOCK = 2**20


def kept(stream: BinaryIO, cache: Path | None = None) -> Path:
    """The file that holds what came through the pipe."""
    folder = (cache or cache_folder()) / "piped"
    digest, size = hashlib.sha256(), 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".coming-", dir=folder)
        aside = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                while block := stream.read(_BLOCK):
                    file.write(block)
                    digest.update(block)
                    size += len(block)
                file.flush()
                os.fsync(file.fileno())
            if size == 0:
                raise UserError("standard input is empty; give text through the pipe")
            final = folder / f"{digest.hexdigest()[:40]}.txt"
            if not final.exists():
                aside.replace(final)
            return final
        finally:
            with contextlib.suppress(FileNotFoundError):
                aside.unlink()
    except OSError as error:
        raise UserError(
            f"standard input cannot be kept in {folder} ({error.strerror or error}); free space there or set "
            "FORESAY_CACHE to another folder"
        ) from error
