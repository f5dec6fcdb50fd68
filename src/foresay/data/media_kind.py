"""Whether a place holds pictures or sounds, told by the names of the files in it."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np

from foresay.data import builtin
from foresay.data.image_files import ENDINGS as PICTURES
from foresay.data.made import kind_of
from foresay.data.sound_places import ARCHIVES, is_archive_of_sounds
from foresay.data.sound_places import ENDINGS as SOUNDS

MOST = 1000  # files of a folder that are looked at
Media = Literal["images", "sounds"]


def media_of(place: str) -> Media | None:
    """The kind of data a file, a folder, an archive or a known set is, where it is no text."""
    known = kind_of(place) or builtin.media_of(place)
    if known in ("images", "sounds"):
        return known
    path = Path(place).expanduser()
    if path.is_dir():
        names = [one.name for one in islice((one for one in path.rglob("*") if one.is_file()), MOST)]
    elif path.is_file():
        if path.name.lower().endswith(ARCHIVES):
            return "sounds" if is_archive_of_sounds(path) else None
        if path.suffix.lower() == ".npy":
            return "images" if _holds_pictures(path) else None
        names = [path.name]
    else:
        return None
    return _most(names)


def _holds_pictures(path: Path) -> bool:
    """Whether an array is one of pictures, by its header; one that cannot be read is told by who reads it."""
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except (ValueError, OSError, EOFError):
        return False
    return array.dtype == np.uint8 and array.ndim in (3, 4)


def _most(names: list[str]) -> Media | None:
    """What more than half of some files are, hidden ones left out."""
    names = [name.lower() for name in names if not name.startswith(".")]
    pictures = sum(name.endswith(PICTURES) or "-idx3-ubyte" in name for name in names)
    sounds = sum(name.endswith(SOUNDS) for name in names)
    if 2 * max(pictures, sounds) <= len(names):
        return None
    return "images" if pictures > sounds else "sounds"
