"""What is served: runs and vectors of words by name, and what can be asked of each, by their public methods alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from foresay.counts.arpa_files import is_arpa
from foresay.errors import UserError, nearest
from foresay.loading import load
from foresay.run import Run
from foresay.vectors.word_vectors import WordVectors

WAYS = {  # what can be asked, where, and who answers it
    "complete": ("/v1/completions", "a run that writes texts: foresay train lstm, transformer, ngram, dates, ..."),
    "score": ("/v1/score", "a language model, or a run that writes from a source: foresay train lstm, masked, ..."),
    "predict": ("/v1/predict", "a run that tags words or labels texts: foresay train pos, sentiment, ..."),
    "correct": ("/v1/correct", "a language model of texts: foresay train lstm, masked, kneser-ney, ..."),
    "translate": ("/v1/translate", "a run that writes from a source: foresay train translate-transformer, dates, ..."),
    "near": ("/v1/words/near", "vectors of words: foresay train skipgram, cbow"),
    "analogy": ("/v1/words/analogy", "vectors of words: foresay train skipgram, cbow"),
}  # fmt: skip


class NotThere(UserError):
    """There is no run of this name."""


@dataclass(frozen=True)
class Served:
    """One thing with a name: a run, or vectors of words."""

    name: str
    folder: Path
    run: Run | None = None
    vectors: WordVectors | None = None

    @cached_property
    def task(self) -> str:
        return self.run.recipe.task.part_name if self.run is not None else "word-vectors"

    @cached_property
    def ways(self) -> tuple[str, ...]:
        """What can be asked of it."""
        if self.run is None:
            return ("near", "analogy")
        model = self.run.model
        if hasattr(self.run, "form"):  # of pictures, sounds or numbers
            return ()
        if model.conditional:
            return ("complete", "translate", "score")
        if hasattr(self.run, "predict"):
            return ("predict",)
        return (("complete",) if model.causal else ()) + ("score", "correct") if model.sequence else ()

    def about(self) -> dict[str, Any]:
        """For who chooses among several."""
        told: dict[str, Any] = {"task": self.task, "can": list(self.ways)}
        if self.run is not None and self.run.model.sequence:
            told["labels"] = list(self.run.labels)
        return told

    def must(self, way: str) -> Any:
        """The run or the vectors; refused where they do not have this way."""
        if way not in self.ways:
            can = ", ".join(WAYS[one][0] for one in self.ways) or "nothing here"
            raise UserError(
                f"{self.name} is of task {self.task} and cannot {way}; allowed of it: {can}; {way} needs {WAYS[way][1]}"
            )
        return self.run if self.run is not None else self.vectors


class Shelf:
    """All that is served, by name."""

    def __init__(self, all_: Sequence[Served]):
        self.all = {one.name: one for one in all_}

    def find(self, name: str) -> Served:
        if name not in self.all:
            raise NotThere(f"model={name!r}; allowed: {', '.join(self.all)}{nearest(name, self.all)}")
        return self.all[name]

    def writers(self) -> dict[str, Run]:
        """The runs that the engine writes with, step by step."""
        found = {}
        for name, one in self.all.items():
            if one.run is not None and "complete" in one.ways and not one.run.model.conditional:
                found[name] = one.run
        return found


def open_all(places: Sequence[str | Path], device: str | None = None, *, trust: bool = False) -> Shelf:
    """Runs from their folders, vectors of words from runs and files; each is named as its folder, or all by path."""
    if not places:
        raise UserError("no run is given; give one or more folders, as foresay train writes them")
    found = [Served(name, place, *_opened(place, device, trust)) for name, place in _named(places).items()]
    return Shelf(found)


def _named(places: Sequence[str | Path]) -> dict[str, Path]:
    paths = [Path(place) for place in places]
    names = [path.resolve().name for path in paths]
    twice = next((path for n, path in enumerate(paths) if path.resolve() in [one.resolve() for one in paths[:n]]), None)
    if twice is not None:
        raise UserError(f"{twice} is given twice; give each run once")
    if len(set(names)) < len(names):
        names = [str(path) for path in paths]
    return dict(zip(names, paths, strict=True))


def _opened(place: Path, device: str | None, trust: bool) -> tuple[Run | None, WordVectors | None]:
    if place.is_file() and not is_arpa(place):
        return None, WordVectors.load(place)
    run = load(place, device, trust=trust)
    if run.recipe.task.part_name == "word-vectors":
        return None, WordVectors.load(place)
    return run, None
