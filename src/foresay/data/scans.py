"""Scans remembered between runs: a file that has not changed is not read again to know its contents.

A file is taken as unchanged by its path, size, time of change and inode, as git does; one that changed in the last
seconds is scanned again, because it could change once more within the same tick of the clock.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from foresay.data.scan import Facts, scan
from foresay.data.source import Source

_SETTLED = 2  # seconds
FORMAT = 3  # of the notes


class Scans:
    """`scan` with a memory in the folder `scans` of the cache; `states` says what each source was like."""

    def __init__(self, cache: Path, tell: Callable[[str, float], None]):
        self.folder = cache / "scans"
        self.tell = tell
        self.states: dict[Source, tuple[int, int]] = {}

    def __call__(self, source: Source) -> Facts:
        self.states[source] = state = source.state()
        if source.path is None:
            return scan(source, lambda share: self.tell(f"read {source.name}", share))
        note = self.folder / f"{_name(source)}.json"
        facts = _read(note)
        if facts is None:
            facts = scan(source, lambda share: self.tell(f"read {source.name}", share))
            if facts.problem is None and time.time() - state[1] / 1e9 > _SETTLED:
                _write(note, facts)
        return facts

    def changed(self) -> Source | None:
        """A source that is no longer what it was when it was scanned."""
        return next((source for source, state in self.states.items() if source.state() != state), None)


def _name(source: Source) -> str:
    """Of the file as it is now and of how it is read."""
    assert source.path is not None
    stat = source.path.stat()
    read = source.read
    about = [str(source.path.resolve()), stat.st_size, stat.st_mtime_ns, stat.st_ino, FORMAT]
    about += [source.format, read.format, read.column, read.encoding, read.errors]
    about += [read.broken] * (read.broken != "refuse")
    return hashlib.sha256(json.dumps(about).encode("utf-8", "surrogatepass")).hexdigest()[:40]


def _read(note: Path) -> Facts | None:
    try:
        return Facts(**json.loads(note.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):  # missing or damaged: scan again
        return None


def _write(note: Path, facts: Facts) -> None:
    # Without the note the next run scans again: a cache that cannot be written is told of later, if it is needed.
    with contextlib.suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        aside = note.with_suffix(f".{os.getpid()}")
        aside.write_text(json.dumps(asdict(facts)), encoding="utf-8")
        aside.replace(note)
