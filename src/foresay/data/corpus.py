"""A corpus of plain text: which files, what one sequence is, and what is held out for validation.

`train`, `valid` and `test` are each a file, a folder (walked in sorted order; hidden files are left out, binary ones
skipped), `builtin:NAME`, or the name of a known set. All text is UTF-8.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from foresay.data import builtin
from foresay.data.source import Facts, Source, scan
from foresay.errors import UserError
from foresay.parts import Share, part

Scan = Callable[[Source], Facts]


@dataclass(frozen=True)
class Found:
    """The usable sources of one setting with what their scans found."""

    sources: list[tuple[Source, Facts]]
    skipped: list[str] = field(default_factory=list)  # why each unusable file of a folder is left out

    @property
    def bytes(self) -> int:
        return sum(facts.text_bytes for _, facts in self.sources)


@part("data", "text")
class Corpus:
    """Plain text: a file, a folder, a built-in text or a known set."""

    def __init__(
        self,
        train: str,
        valid: str | None = None,
        test: str | None = None,
        unit: Literal["document", "line"] = "document",
        holdout: Literal["tail", "seed"] = "tail",
        share: Share = 0.1,
    ):
        self.train, self.valid, self.test = train, valid, test
        self.unit, self.holdout, self.share = unit, holdout, share

    def find(self, scan: Scan = scan) -> dict[str, Found]:
        """The sources of train and, where they are files of their own, of valid and test; all scanned."""
        named = self.named()
        return {part: _scanned(f"data.{part}", place, scan) for part, place in named.items() if place is not None}

    def named(self) -> dict[str, str | Path | None]:
        """The place of each part; a known set brings its own valid and test."""
        known = None
        if not self.train.startswith(builtin.PREFIX) and not Path(self.train).expanduser().exists():
            known = builtin.known_set(self.train)
        if known is None:
            return {"train": self.train, "valid": self.valid, "test": self.test}
        train, valid, test = [*known, None, None][:3]
        return {"train": train, "valid": self.valid or valid, "test": self.test or test}


def _scanned(setting: str, place: str | Path, scan: Scan) -> Found:
    if isinstance(place, str) and place.startswith(builtin.PREFIX):
        source = builtin.builtin_source(place)
        return Found([(source, scan(source))])
    path = Path(place).expanduser()
    if path.is_dir():
        return _folder(setting, path, scan)
    if not path.exists():
        raise builtin.no_such(setting, str(place))
    if not path.is_file():
        raise UserError(f"{setting}={str(place)!r} is no regular file; save it as a file first")
    source = Source(str(path), path)
    facts = _read(source, scan)
    if facts.problem:
        raise UserError(facts.problem)
    if facts.text_bytes == 0:
        raise UserError(f"{path} is empty; give a file with text")
    return Found([(source, facts)])


def _folder(setting: str, folder: Path, scan: Scan) -> Found:
    used: list[tuple[Source, Facts]] = []
    skipped: list[str] = []
    for path in walk(folder):
        source = Source(str(path), path)
        facts = _read(source, scan)
        if facts.problem:
            skipped.append(facts.problem)
        elif facts.text_bytes:
            used.append((source, facts))
    if not used:
        why = f": {len(skipped)} skipped, the first because {skipped[0]}" if skipped else ""
        raise UserError(f"{setting}={str(folder)!r} holds no text files{why}; give plain text in UTF-8")
    return Found(used, skipped)


def walk(folder: Path) -> Iterator[Path]:
    """Every file of a folder that is not hidden, in sorted order."""
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(root) / name
            if not name.startswith(".") and path.is_file():
                yield path


def _read(source: Source, scan: Scan) -> Facts:
    try:
        return scan(source)
    except OSError as error:
        raise UserError(f"{source.name} cannot be read: {error.strerror}; check its permissions") from None
