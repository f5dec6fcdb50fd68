"""What a word in `data.train` stands for: files, folders, patterns, saved data sets, names -> sources.

    notes.txt  texts/  texts/**/*.md  dump.jsonl.gz  table.csv  data.parquet  saved_data_set/
    builtin:python-reference  hub:NAME[:CONFIG][@SPLIT]  ptb (a known set)

A folder is walked in sorted order; hidden files are left out, and so are files that hold no text, with a note.
"""

from __future__ import annotations

import glob
import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from foresay.data import builtin
from foresay.data.source import Reading, Source
from foresay.data.tables import HUB, hub_parts, saved_files, saved_splits
from foresay.errors import UserError

Place = str | Path


def parts_of(place: str) -> dict[str, Place | None] | None:
    """Train, valid and test of a place that brings its own; None for any other."""
    path = Path(place).expanduser()
    if not place or place.startswith(builtin.PREFIX):
        return None
    if place.startswith(HUB):
        return dict(hub_parts(place))
    if path.is_dir() and (splits := saved_splits(path)):
        named = {"train": ("train",), "valid": ("validation", "valid", "dev"), "test": ("test",)}
        found = {part: next((path / s for s in names if s in splits), None) for part, names in named.items()}
        return found | {"train": found["train"] or path / splits[0]}
    known = None if path.exists() else builtin.known_set(place)
    return None if known is None else dict(zip(("train", "valid", "test"), [*known, None, None], strict=False))


def own_part(setting: str, place: Place, part: str) -> Place:
    """The place itself, or its text for this part where it brings several."""
    own = parts_of(str(place))
    if own is None:
        return place
    found = own[part]
    if found is None:
        raise UserError(f"{setting}={str(place)!r} has no {part} text; name one of its splits, or another text")
    return found


def is_one_file(place: Place) -> bool:
    """Whether a place is one file: a problem with it is the user's mistake, not a file to be left out."""
    return str(place).startswith((builtin.PREFIX, HUB)) or Path(place).expanduser().is_file()


def sources_of(setting: str, place: Place, read: Reading) -> list[Source]:
    """The sources of one place, in order."""
    name = str(place)
    if not name:
        raise builtin.no_such(setting, name)
    if name.startswith(builtin.PREFIX):
        return [builtin.builtin_source(name)]
    if name.startswith(HUB):
        return [Source(name, hub=name, read=read)]
    path = Path(place).expanduser()
    if path.is_dir():
        _check_no_run(setting, path)
        files = saved_files(path)
        return [Source(str(file), file, read=read) for file in (walk(path) if files is None else files)]
    if path.is_file():
        return [Source(str(path), path, read=read)]
    if path.exists():
        raise UserError(f"{setting}={name!r} is no regular file; save it as a file first, or give it as a pipe: -")
    found = _matching(name)
    if found is None:
        raise builtin.no_such(setting, name)
    if not found:
        raise UserError(f"{setting}={name!r} matches no file; check the pattern (** goes into folders)")
    return [Source(str(file), file, read=read) for file in found]


def _check_no_run(setting: str, path: Path) -> None:
    if (path / "recipe.yaml").is_file() and (path / "config.json").is_file():
        folder, recipe = shlex.quote(str(path)), shlex.quote(str(path / "recipe.yaml"))
        raise UserError(
            f"{setting}={str(path)!r} is the folder of a run, no text; to go on with it: foresay train --resume "
            f"{folder}, to train anew by its recipe: foresay train {recipe}"
        )


def _matching(pattern: str) -> list[Path] | None:
    """The files that fit a pattern with * ? or [...], sorted; None for a name without any."""
    if not glob.has_magic(pattern):
        return None
    found = sorted(Path(name) for name in glob.glob(str(Path(pattern).expanduser()), recursive=True))  # noqa: PTH207
    return [path for path in found if path.is_file()]


def walk(folder: Path) -> Iterator[Path]:
    """Every file of a folder that is not hidden, in sorted order."""
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(root) / name
            if not name.startswith(".") and path.is_file():
                yield path
