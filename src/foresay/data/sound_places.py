"""The recordings of a place, one by one, with their labels: of a file, a folder, or an archive.

digits/7/a.wav              a folder for each label; recordings that lie in the folder itself have none
digits/labels.csv           or a table beside them: file,label or file,text; a text may be empty
digits.zip  .tar  .tar.xz   the same packed; a folder that all of it lies in does not count
7_jackson_32.wav            with data.label=2 the second part of each name, `jackson`
"""

from __future__ import annotations

import csv
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from foresay.errors import UserError

ENDINGS = (".wav", ".wave", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".aif", ".aiff", ".au", ".caf", ".w64", ".rf64")
ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip")
ALLOWED = "a folder of recordings (.wav, .flac, .ogg ...), an archive of them (.tar, .tar.xz, .zip), one recording"
TABLE = "labels.csv"
BROKEN = (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError)
Open = Callable[[str], IO[bytes]]


@dataclass(frozen=True)
class Recording:
    """One file with sound: where it is from, its name within the place, its label, and how it is opened."""

    where: str
    name: str
    label: tuple[str, ...]
    open: Callable[[], IO[bytes]]


def recordings(path: Path, label: int | None = None, labelled: bool = True) -> Iterator[Recording]:
    """Every recording of a place; `label` says which part of the names is the label, without it folder or table.

    Where they are not to be `labelled`, no label is looked for.
    """
    if path.is_file() and not path.name.lower().endswith(ARCHIVES):
        own = () if label is None or not labelled else (_part(str(path), path.name, label),)
        yield Recording(str(path), path.name, own, lambda: path.open("rb"))
        return
    try:
        with _files(path) as (names, opened):
            for name, own in _labelled(path, names, opened, label, labelled).items():
                yield Recording(str(path / name), name, own, lambda name=name: opened(name))
    except BROKEN as error:
        raise UserError(f"{path} is no archive that can be read ({error}); get it again") from None


def is_archive_of_sounds(path: Path) -> bool:
    """Whether an archive can be read and holds a recording."""
    try:
        with _files(path) as (names, _):
            return any(name.lower().endswith(ENDINGS) for name in names)
    except (OSError, *BROKEN):
        return False


@contextmanager
def _files(path: Path) -> Iterator[tuple[list[str], Open]]:
    """The names of all files of a folder or an archive, and what opens one."""
    if path.is_dir():
        names = [one.relative_to(path).as_posix() for one in sorted(path.rglob("*")) if one.is_file()]
        yield names, lambda name: (path / name).open("rb")
    elif path.suffix.lower() == ".zip":
        with zipfile.ZipFile(path) as packed:
            yield [one.filename for one in packed.infolist() if not one.is_dir()], packed.open
    else:
        with tarfile.open(path) as packed:
            inside = {one.name.removeprefix("./"): one for one in packed.getmembers() if one.isfile()}
            yield list(inside), lambda name: cast("IO[bytes]", packed.extractfile(inside[name]))


def _labelled(
    path: Path, names: list[str], opened: Open, label: int | None, labelled: bool
) -> dict[str, tuple[str, ...]]:
    """The recordings among the files, in order, each with its label if it has one."""
    names = [name for name in names if not any(part.startswith((".", "__MACOSX")) for part in name.split("/"))]
    sounds = [name for name in names if name.lower().endswith(ENDINGS)]
    if not sounds:
        found = f"; the first file in it is {names[0]}" if names else ""
        raise UserError(f"{path} holds no recordings ({', '.join(ENDINGS[:4])} ...){found}; allowed: {ALLOWED}")
    if not labelled:
        return dict.fromkeys(sounds, ())
    above = "" if path.is_dir() else _shared(names)
    if label is not None:
        return {name: (_part(str(path / name), name, label),) for name in sounds}
    if above + TABLE in names:
        with opened(above + TABLE) as file:
            return _of_table(path / above / TABLE, file.read(), sounds, above)
    within = {name: name.removeprefix(above) for name in sounds}
    loose = [name for name in sounds if "/" not in within[name]]
    if loose and len(loose) < len(sounds):
        raise UserError(f"{path / loose[0]} has no label, and others lie in folders that name theirs; move it into one")
    return {name: () if loose else (within[name].split("/")[0],) for name in sounds}


def _shared(names: list[str]) -> str:
    """The folders that all files lie in."""
    above = ""
    while len(first := {name.removeprefix(above).split("/")[0] for name in names}) == 1:
        (one,) = first
        if any(name.removeprefix(above) == one for name in names):
            break
        above += one + "/"
    return above


def _part(where: str, name: str, label: int) -> str:
    """One of the parts of a file's name that stand between its underlines."""
    parts = Path(name).stem.split("_")
    if not 1 <= label <= len(parts) or not parts[label - 1]:
        raise UserError(
            f"data.label={label}, and the name of {where} has {len(parts)} parts between its underlines; allowed: 1 to "
            f"{len(parts)}: or leave data.label out, for folders or {TABLE}"
        )
    return parts[label - 1]


def _of_table(path: Path, content: bytes, sounds: list[str], above: str) -> dict[str, tuple[str, ...]]:
    """The label of each recording by a table of file,label; what else it lists does not matter."""
    try:
        rows = list(csv.reader(content.decode("utf-8-sig").splitlines()))
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8; save it as such") from None
    texts = rows[:1] == [["file", "text"]]  # which may be empty, of silence
    wrong = [n for n, row in enumerate(rows[1:], 2) if len(row) != 2 or not (texts or row[1].strip())]
    if wrong or not (texts or rows[:1] == [["file", "label"]]):
        raise UserError(
            f"{path}: line {wrong[0] if wrong else 1} is not as needed; allowed: a line file,label and then NAME,LABEL "
            "for each; or file,text"
        )
    given: dict[str, str] = {}
    for number, (name, label) in enumerate(rows[1:], 2):
        if given.setdefault(name, label.strip()) != label.strip():
            raise UserError(f"{path}: line {number} gives {name} another {rows[0][1]} than a line before; delete one")
    missing = next((name for name in sounds if name.removeprefix(above) not in given), None)
    if missing is not None:
        raise UserError(f"{path} has no line for {missing.removeprefix(above)}; add it, or delete the recording")
    return {name: (given[name.removeprefix(above)],) for name in sounds}
