"""A corpus: which texts, how they are read, what one sequence is, and what is held out for validation.

`train`, `valid` and `test` are each a place (see places.py) or a list of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from foresay.data import places
from foresay.data.decoding import check_encoding
from foresay.data.places import Place
from foresay.data.scan import Facts, scan
from foresay.data.source import Reading, Source
from foresay.errors import UserError
from foresay.parts import Share, part

Scan = Callable[[Source], Facts]


@dataclass(frozen=True)
class Found:
    """The usable sources of one setting with what their scans found."""

    sources: list[tuple[Source, Facts]]
    skipped: list[str] = field(default_factory=list)  # why each unusable file of a folder is left out
    repeated: int = 0  # plain files with the text of another one before them

    @property
    def bytes(self) -> int:
        return sum(facts.text_bytes for _, facts in self.sources)


@part("data", "text")
class Corpus:
    """Text from files, folders, patterns, tables, data sets of the hub, built-in texts or known sets."""

    def __init__(
        self,
        train: str | list[str],
        valid: str | list[str] | None = None,
        test: str | list[str] | None = None,
        unit: Literal["document", "line"] = "document",
        holdout: Literal["tail", "seed"] = "tail",
        share: Share = 0.1,
        read: Reading = Reading(),  # noqa: B008 - frozen
    ):
        self.train, self.valid, self.test = train, valid, test
        self.unit, self.holdout, self.share, self.read = unit, holdout, share, read
        check_encoding(read.encoding)

    def find(self, scan: Scan = scan) -> dict[str, Found]:
        """The sources of train and, where they are texts of their own, of valid and test; all scanned."""
        return {part: self._scanned(f"data.{part}", where, scan) for part, where in self.named().items() if where}

    def named(self) -> dict[str, list[Place]]:
        """The places of each part; a known set, or a data set with splits, brings its own valid and test."""
        given = {"train": _listed(self.train), "valid": _listed(self.valid), "test": _listed(self.test)}
        found: dict[str, list[Place]] = {
            part: [places.own_part(f"data.{part}", place, part) for place in where] for part, where in given.items()
        }
        for place in given["train"]:
            own = places.parts_of(str(place)) or {}
            for other in ("valid", "test"):
                if not given[other] and (its := own.get(other)):
                    found[other].append(its)
        return found

    def sources(self, part: str) -> list[Source]:
        """The sources of a part, not yet scanned."""
        return [s for place in self.named()[part] for s in places.sources_of(f"data.{part}", place, self.read)]

    def _scanned(self, setting: str, where: list[Place], scan: Scan) -> Found:
        used: list[tuple[Source, Facts]] = []
        skipped: list[str] = []
        for place in where:
            alone = places.is_one_file(place)
            for source in places.sources_of(setting, place, self.read):
                facts = _read(source, scan)
                if facts.problem and (alone or facts.damaged):
                    raise UserError(facts.problem)
                if alone and facts.text_bytes == 0:
                    raise UserError(f"{source.name} is empty; give a file with text")
                if facts.problem:
                    skipped.append(facts.problem)
                elif facts.text_bytes:
                    used.append((source, facts))
        if not used:
            why = f": {len(skipped)} left out, the first because {skipped[0]}" if skipped else ""
            raise UserError(f"{setting}={_shown(where)} holds no text files{why}; give text in UTF-8, or data.encoding")
        return self._without_copies(Found(used, skipped))

    def _without_copies(self, found: Found) -> Found:
        """Plain files that hold the text of one before them are counted, and left out when duplicates are dropped."""
        kept, texts = [], set()
        for source, facts in found.sources:
            if source.has_records or facts.sha256 not in texts:
                kept.append((source, facts))
            if not source.has_records:
                texts.add(facts.sha256)
        sources = kept if self.read.duplicates == "drop" else found.sources
        return Found(sources, found.skipped, len(found.sources) - len(kept))


def _listed(value: str | Place | list[str] | None) -> list[Place]:
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


def _shown(where: list[Place]) -> str:
    return repr(str(where[0])) if len(where) == 1 else repr([str(place) for place in where])


def _read(source: Source, scan: Scan) -> Facts:
    try:
        return scan(source)
    except OSError as error:
        raise UserError(f"{source.name} cannot be read: {error.strerror or error}; check the file") from None
