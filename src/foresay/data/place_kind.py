"""Whether a place holds pictures, sounds, series of numbers or music, told by its files: their names and beginnings."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Literal, cast

import numpy as np

from foresay.data import builtin
from foresay.data.image_files import ENDINGS as PICTURES
from foresay.data.made import kind_of
from foresay.data.music import ENDINGS as MUSIC
from foresay.data.numeric import holds_series
from foresay.data.series_files import ENDINGS as SERIES
from foresay.data.series_files import ending_of
from foresay.data.sound_places import ARCHIVES, is_archive_of_sounds
from foresay.data.sound_places import ENDINGS as SOUNDS

MOST = 1000  # files of a folder that are looked at
Other = Literal["images", "sounds", "series", "music"]
OTHERS: tuple[Other, ...] = ("images", "sounds", "series", "music")


def other_than_text(place: str) -> Other | None:
    """The kind of data a file, a folder, an archive or a known set is, where it is no text."""
    known = kind_of(place) or builtin.kept_as(place)
    if known in OTHERS:
        return cast(Other, known)
    path = Path(place).expanduser()
    if path.is_dir():
        return _most(list(islice((one for one in path.rglob("*") if one.is_file()), MOST)))
    if not path.is_file():
        return None
    if path.name.lower().endswith(ARCHIVES):
        return "sounds" if is_archive_of_sounds(path) else None
    if path.suffix.lower() == ".npy" and _holds_pictures(path):
        return "images"
    return _most([path])


def _holds_pictures(path: Path) -> bool:
    """Whether an array is one of pictures, by its header; one that cannot be read is told by who reads it."""
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except (ValueError, OSError, EOFError):
        return False
    return array.dtype == np.uint8 and array.ndim in (3, 4)


def _most(files: list[Path]) -> Other | None:
    """What more than half of some files are, hidden ones left out; of tables and lists the first is looked into."""
    files = [file for file in files if not file.name.startswith(".")]
    names = [file.name.lower() for file in files]
    tables = [file for file in sorted(files) if ending_of(file) in SERIES]
    counts: dict[Other, int] = {
        "images": sum(name.endswith(PICTURES) or "-idx3-ubyte" in name for name in names),
        "sounds": sum(name.endswith(SOUNDS) for name in names),
        "music": sum(name.endswith(MUSIC) for name in names),
        "series": len(tables),
    }
    kind = max(counts, key=lambda one: counts[one])
    if 2 * counts[kind] <= len(names) or (kind == "series" and not holds_series(tables[0])):
        return None
    return kind
