"""`foresay.vocabulary`: opens a run, a prepared text, a recipe or a text file, counts it, judges it and draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from foresay import parts
from foresay.data.prepare import Prepared
from foresay.errors import UserError
from foresay.ready import Source, ready, recipe_for
from foresay.study.vocabulary.facts import About, Facts, measure
from foresay.study.vocabulary.hints import Hint, find_hints
from foresay.study.vocabulary.picture import check_name, draw
from foresay.train.folder import read_recipe
from foresay.train.progress import Watch, watch_for

PICTURE = "vocabulary.png"


@dataclass(frozen=True)
class Survey:
    """What was found about a vocabulary, what is poor in it, and where the picture is."""

    facts: Facts
    hints: list[Hint]
    picture: Path

    def as_dict(self) -> dict[str, Any]:
        return self.facts.as_dict() | {"hints": [asdict(hint) for hint in self.hints], "picture": str(self.picture)}


def vocabulary(
    source: Source,
    settings: str | Sequence[str] = (),
    *,
    out: str | Path | None = None,
    top: int = 10,
    watch: Watch | None = None,
) -> Survey:
    """How well a vocabulary fits its text: of a run, a prepared text, a recipe or a text file.

    `settings` such as `["tokens=words", "tokens.size=20000"]` change a recipe or what is chosen for a text. The picture
    goes to `out`, else into the run, else into this folder; `top` symbols are named at both ends.
    """
    if not isinstance(source, str | Path | dict | list):
        raise UserError(
            f"source={source!r}; allowed: a run, a prepared text, a recipe, a text file, or a list of texts"
        )
    top = parts.fits(parts.Count, top, "top")
    words = [settings] if isinstance(settings, str) else list(settings)
    picture = check_name(Path(out) if out is not None else place_of(source))
    watch = watch if watch is not None else watch_for()
    try:
        with watch.stage("preparing text") as tell:
            prepared = ready(source, words, on_progress=lambda stage, done: tell(done, stage))
        for note in prepared.notes:
            watch.note(note)
        if prepared.source_tokens is not None:
            watch.note(f"of the targets; the sources have {len(prepared.source_tokens):,} symbols of their own")
        with watch.stage("counting symbols") as tell:
            facts = measure(prepared, _about(source, words, prepared), top, tell)
    finally:
        watch.close()
    draw(facts, picture)
    return Survey(facts, find_hints(facts), picture)


def place_of(source: Source) -> Path:
    """Where the picture goes if nothing is said: into the run, else into this folder."""
    return (_run_folder(source) or Path()) / PICTURE


def _run_folder(source: Source) -> Path | None:
    """The folder, if it is that of a run."""
    if isinstance(source, (dict, list)) or not (Path(source) / "recipe.yaml").is_file():
        return None
    return Path(source)


def _about(source: Source, words: list[str], prepared: Prepared) -> About:
    """What is known about the text beside its shards."""
    tokens, run = parts.describe(prepared.tokens), _run_folder(source)
    if run is None and prepared.folder == Path(str(source)):
        return About(str(source), tokens)
    recipe = read_recipe(run, model=False) if run else recipe_for(source, words)
    name = str(source) if run else _named(source)
    return About(name, tokens, parts.describe(recipe.data), recipe.train.batches.part_name)


def _named(source: Source) -> str:
    if isinstance(source, dict):
        return "recipe"
    return ", ".join(Path(place).name for place in (source if isinstance(source, list) else [source]))
