"""A run, a recipe or a text -> its prepared corpus, for commands that look at text and do not train."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from foresay import recipe as recipes
from foresay.data.cache import cache_folder
from foresay.data.peek import peek
from foresay.data.prepare import Prepared, open_prepared, prepare
from foresay.data.writer import Progress
from foresay.errors import UserError
from foresay.recipe import Recipe
from foresay.train.choose import choose
from foresay.train.folder import read_config

MINUTES = 10.0  # what a text is chosen tokens for when nothing says how long it is trained on


def ready(
    source: str | Path | dict[str, Any],
    settings: Sequence[str] = (),
    *,
    on_progress: Progress | None = None,
) -> Prepared:
    """The prepared corpus of a run folder, a prepared folder, a recipe or a text; made where it is not there yet.

    A text gets the tokens that `foresay train` would choose for it; `settings` change them.
    """
    folder = Path(source) if isinstance(source, (str, Path)) else None
    if folder is not None and (folder / "text.json").is_file():
        if settings:
            raise UserError(f"{folder} is finished: settings cannot change it; give its recipe.yaml and the settings")
        return _of_run(folder, on_progress) if (folder / "recipe.yaml").is_file() else open_prepared(folder)
    recipe = recipe_for(source, settings)
    return prepare(recipe.data, recipe.tokens, recipe.seed, on_progress=on_progress)


def recipe_for(source: str | Path | dict[str, Any], settings: Sequence[str] = ()) -> Recipe:
    """The recipe named, or the one chosen for a text, with `key=value` words applied."""
    if isinstance(source, dict) or recipes.is_recipe(str(source)):
        raw = recipes.read(source)
    else:
        raw = choose(str(source), *peek(str(source)), "cpu", MINUTES).recipe
    return recipes.complete(recipes.override(raw, list(settings))[0])


def _of_run(folder: Path, on_progress: Progress | None) -> Prepared:
    """The text a run was trained on: in the cache, else prepared again from where the recipe found it."""
    name = read_config(folder)["data"]
    if (cache_folder() / name).is_dir():
        return open_prepared(cache_folder() / name)
    recipe: Recipe = recipes.complete(recipes.read(folder / "recipe.yaml"))
    prepared = prepare(recipe.data, recipe.tokens, recipe.seed, on_progress=on_progress)
    if prepared.folder.name != name:
        raise UserError(f"the text of {folder} has changed since it was trained; give a recipe or a text")
    return prepared
