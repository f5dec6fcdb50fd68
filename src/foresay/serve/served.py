"""What is served: runs and vectors of words by name, and what can be asked of each, by their public methods alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from foresay.counts.arpa_files import is_arpa
from foresay.errors import UserError, nearest
from foresay.loading import load
from foresay.run import Run
from foresay.vectors.word_vectors import WordVectors


class Way(NamedTuple):
    """What can be asked: where, what it is in a sentence, who answers it, and recipes of such runs."""

    path: str
    phrase: str
    who: str
    recipes: str


WAYS = {
    "complete": Way("/v1/completions", "complete texts", "a run that writes texts", "lstm, transformer, ngram, dates"),
    "score": Way("/v1/score", "score texts", "a language model, or a run that writes from a source", "lstm, masked"),
    "predict": Way("/v1/predict", "predict tags or labels", "a run that tags words or labels texts", "pos, sentiment"),
    "correct": Way("/v1/correct", "correct texts", "a language model of texts", "lstm, masked, kneser-ney"),
    "translate": Way("/v1/translate", "translate", "a run that writes from a source", "translate-transformer, dates"),
    "near": Way("/v1/words/near", "find near words", "vectors of words", "skipgram, cbow"),
    "analogy": Way("/v1/words/analogy", "find analogies", "vectors of words", "skipgram, cbow"),
    "embed": Way("/v1/embeddings", "embed texts", "vectors of words, alone or in their context", "skipgram, elmo"),
    "draw": Way("/v1/draw", "draw", "a model of pictures, sounds or series", "pixelcnn, wavenet, chorales"),
    "forecast": Way("/v1/forecast", "forecast", "a run on series of numbers", "sunspots, seasons"),
}


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
            return ("near", "analogy", "embed")
        model = self.run.model
        if hasattr(self.run, "forecast"):
            return ("forecast", "draw")
        if hasattr(self.run, "form"):  # of pictures or sounds
            return ("draw",) if hasattr(self.run, "draw") and model.causal else ()
        if self.pictured:  # the only way to give it a picture is the path of a file, which is no matter of clients
            return ()
        if model.conditional:
            return ("complete", "translate", "score")
        if hasattr(self.run, "predict"):
            return ("predict",)
        own = (("complete",) if model.causal else ()) + ("score", "correct") if model.sequence else ()
        return own + (("embed",) if hasattr(self.run, "embed") else ())

    @property
    def pictured(self) -> bool:
        """Whether it writes from pictures."""
        return self.run is not None and getattr(self.run.recipe.data, "pictured", False)

    @property
    def command(self) -> str:
        """What a run is used by that nothing can be asked of here."""
        return f"foresay {'generate' if self.pictured else 'predict' if hasattr(self.run, 'predict') else 'score'}"

    @cached_property
    def data(self) -> str | None:
        """What it was trained on, where that is no text."""
        if self.pictured:
            return "pictures with texts"
        form = getattr(self.run, "form", None)
        told = None if form is None else form.told()
        return f"series of {told}" if told is not None and hasattr(self.run, "forecast") else told

    def about(self) -> dict[str, Any]:
        """For who chooses among several."""
        told: dict[str, Any] = {"task": self.task, "can": list(self.ways)}
        if self.data is not None:
            told["data"] = self.data
        if not self.ways:
            told["command"] = self.command
        if self.run is not None and self.run.model.sequence:
            told["labels"] = list(self.run.labels)
        return told

    def must(self, way: str) -> Any:
        """The run or the vectors; refused where they do not have this way."""
        if way not in self.ways:
            path, phrase, who, recipes = WAYS[way]
            what = f"of {self.data}" if self.data is not None else f"of task {self.task}"
            can = ", ".join(WAYS[one].path for one in self.ways)
            own = f"allowed of it: {can}" if can else f"nothing can be asked of it here: use {self.command}"
            needs = f"{path} needs {who}: foresay train {recipes}, ..."
            raise UserError(f"{self.name} is {what} and cannot {phrase}; {own}; {needs}")
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
