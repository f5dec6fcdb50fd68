"""A run, a recipe or a text -> its prepared corpus, for commands that look at text and do not train."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from foresay import parts
from foresay import recipe as recipes
from foresay.data.cache import cache_folder
from foresay.data.prepare import Prepared, open_prepared
from foresay.data.prepare import prepare as prepare_corpus
from foresay.data.shards import Shards
from foresay.data.writer import Progress
from foresay.errors import UserError
from foresay.recipe import Recipe
from foresay.start import Settings, words_of
from foresay.train.choose import choose_for
from foresay.train.folder import read_config
from foresay.train.progress import Watch, watch_for
from foresay.train.resume import own_text

MINUTES = 10.0  # what a text is chosen tokens for when nothing says how long it is trained on
Source = str | Path | dict[str, Any] | list[str]


def prepare(source: Source, settings: Settings = (), *, watch: Watch | None = None) -> Prepared:
    """Turns a text, a list of texts, or the text of a recipe into token shards, once; killed, it goes on where it was.

    A text gets the tokens that `foresay train` would choose for it; `settings` as for `train`.
    """
    watch = watch if watch is not None else watch_for()
    try:
        with watch.stage("preparing text") as tell:
            return ready(source, words_of(settings), on_progress=lambda stage, done: tell(done, stage))
    except KeyboardInterrupt:
        watch.note("stopped; the same command goes on where it was")
        raise
    finally:
        watch.close()


def ready(source: Source, settings: Sequence[str] = (), *, on_progress: Progress | None = None) -> Prepared:
    """The prepared corpus of a run folder, a prepared folder, a recipe or a text; made where it is not there yet."""
    folder = Path(source) if isinstance(source, (str, Path)) else None
    if folder is not None and (folder / "text.json").is_file():
        if settings:
            raise UserError(f"{folder} is finished: settings cannot change it; give its recipe.yaml and the settings")
        return _of_run(folder, on_progress) if (folder / "recipe.yaml").is_file() else open_prepared(folder)
    recipe = recipe_for(source, settings)
    return prepare_corpus(recipe.data, recipe.tokens, recipe.seed, on_progress=on_progress)


def summary(prepared: Prepared) -> dict[str, Any]:
    """What was prepared: where it is, the tokens, the size of each part, what was left out or met twice."""
    shards = {"train": prepared.train, "valid": prepared.valid, "test": prepared.test}
    return {
        "folder": str(prepared.folder),
        "tokens": parts.describe(prepared.tokens),
        "symbols": len(prepared.tokens),
        "parts": {name: _counts(one) for name, one in shards.items() if one is not None},
        "notes": list(prepared.notes),
    }


def _counts(shards: Shards) -> dict[str, int]:
    meta = shards.meta
    counts = {"tokens": meta.tokens, "documents": meta.documents, "characters": meta.characters, "bytes": meta.bytes}
    return counts | {"repeated": meta.repeated}


def recipe_for(source: Source, settings: Sequence[str] = ()) -> Recipe:
    """The recipe named, or the one chosen for a text, with `key=value` words applied."""
    if isinstance(source, dict) or recipes.is_recipe(source):
        raw = recipes.read(source)
    else:
        raw = choose_for(source, settings, "cpu", MINUTES).recipe
    return recipes.complete(recipes.override(raw, list(settings))[0])


def _of_run(folder: Path, on_progress: Progress | None) -> Prepared:
    """The text a run was trained on: in the cache, else prepared again from where the recipe found it."""
    name = read_config(folder)["data"]
    if (cache_folder() / name).is_dir():
        return open_prepared(cache_folder() / name)
    recipe: Recipe = recipes.complete(recipes.read(folder / "recipe.yaml"))
    prepared = prepare_corpus(own_text(folder, recipe), recipe.tokens, recipe.seed, on_progress=on_progress)
    if prepared.folder.name != name:
        raise UserError(f"the text of {folder} has changed since it was trained; give a recipe or a text")
    return prepared
