"""Prepared corpora on disk: written aside under a lock, then renamed into place.

KEY/        a finished corpus; the rename puts it there whole
KEY.lock    held (flock) by the process that prepares KEY; others wait and then open what it made
KEY.part/   being written; when its writer is killed the next one of KEY goes on with it, and after a week without
            one it is removed
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from foresay.errors import UserError

FORGOTTEN = 7 * 24 * 3600  # seconds


def cache_folder() -> Path:
    """FORESAY_CACHE, else ~/.cache/foresay."""
    return Path(os.environ.get("FORESAY_CACHE") or "~/.cache/foresay").expanduser()


def made_once(cache: Path, key: str, write: Callable[[Path], None]) -> Path:
    """The folder of `key`; when there is none, `write` fills a folder aside, which then takes its place.

    The folder aside may hold what an earlier writer of the same key had done when it was killed.
    """
    final = cache / key
    if final.is_dir():
        return final
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with _locked(cache / f"{key}.lock", wait=True):
            if not final.is_dir():
                _remove_forgotten(cache)
                _write_aside(cache, key, write)
    except OSError as error:
        raise UserError(
            f"the cache {cache} cannot be written ({error.strerror or error}); free space there or set "
            "FORESAY_CACHE to another folder"
        ) from error
    return final


def _write_aside(cache: Path, key: str, write: Callable[[Path], None]) -> None:
    aside = cache / f"{key}.part"
    try:
        aside.mkdir(exist_ok=True)
        write(aside)
        _sync_folders(aside)
        aside.rename(cache / key)
        _sync(cache)
    except (UserError, OSError):  # a mistake or a full disk; anything else may go on later
        shutil.rmtree(aside, ignore_errors=True)
        raise


def _remove_forgotten(cache: Path) -> None:
    """Removes what nobody has gone on with for a week; a live writer holds the lock of its key."""
    for aside in cache.glob("*.part"):
        if time.time() - max(path.stat().st_mtime for path in (aside, *aside.rglob("*"))) < FORGOTTEN:
            continue
        with _locked(cache / f"{aside.stem}.lock", wait=False) as held:
            if held:
                shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def _locked(path: Path, wait: bool) -> Iterator[bool]:
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def _sync_folders(folder: Path) -> None:
    for root, _, _ in os.walk(folder):
        _sync(Path(root))


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
