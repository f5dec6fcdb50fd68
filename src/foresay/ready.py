"""A run, a recipe or a text -> its prepared corpus, for commands that look at text and do not train."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from foresay import parts
from foresay import recipe as recipes
from foresay.begun import with_tokens
from foresay.data.prepare import Prepared, open_prepared
from foresay.data.prepare import prepare as prepare_corpus
from foresay.data.shards import Shards
from foresay.data.writer import Progress
from foresay.errors import UserError
from foresay.recipe import Recipe
from foresay.start import DEFAULT_MINUTES, Settings, words_of
from foresay.train.choose import choose_for
from foresay.train.folder import read_recipe
from foresay.train.progress import Watch, watch_for
from foresay.train.resume import own_prepared

Source = str | Path | dict[str, Any] | list[str]


def prepare(source: Source, settings: Settings = (), *, watch: Watch | None = None, ray: bool = False) -> Prepared:
    """Turns a text, a list of texts, or the text of a recipe into token shards, once; killed, it goes on where it was.

    A text gets the tokens that `foresay train` would choose for it; `settings` as for `train`. With `ray` the
    machines of a Ray cluster encode it.
    """
    watch = watch if watch is not None else watch_for()
    try:
        with watch.stage("preparing text") as tell:
            return ready(source, words_of(settings), ray=ray, on_progress=lambda stage, done: tell(done, stage))
    except KeyboardInterrupt:
        watch.note("stopped; the same command goes on where it was")
        raise
    finally:
        watch.close()


def ready(
    source: Source, settings: Sequence[str] = (), *, on_progress: Progress | None = None, ray: bool = False
) -> Prepared:
    """The prepared corpus of a run folder, a prepared folder, a recipe or a text; made where it is not there yet."""
    folder = Path(source) if isinstance(source, (str, Path)) else None
    if folder is not None and (folder / "text.json").is_file():
        if settings:
            raise UserError(f"{folder} is finished: settings cannot change it; give its recipe.yaml and the settings")
        if not (folder / "recipe.yaml").is_file():
            return open_prepared(folder)
        return own_prepared(folder, read_recipe(folder, model=False), on_progress)
    recipe = recipe_for(source, settings)
    learnt = recipe.learnt_tokens
    return prepare_corpus(recipe.data, recipe.tokens, recipe.seed, on_progress=on_progress, learnt=learnt, ray=ray)


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
        raw = choose_for(source, settings, "cpu", DEFAULT_MINUTES).recipe
    return with_tokens(recipes.complete(recipes.override(raw, list(settings))[0]))
