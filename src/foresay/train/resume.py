"""Going on with a run: which one is meant, whether what is given fits it, and where its text is.

A run is resumed with its own recipe from any folder: relative paths in it are meant from the folder it was begun in.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from foresay import parts
from foresay import recipe as recipes
from foresay.data.cache import cache_folder
from foresay.data.prepare import Prepared, open_prepared, prepare
from foresay.data.writer import Progress
from foresay.errors import UserError
from foresay.recipe import Recipe
from foresay.text.saved import open_tokens
from foresay.train.folder import located, read_config

Source = str | Path | list[str] | dict[str, Any] | None
FITTED = ("train.steps", "train.evaluate.", "train.save.", "train.optimizer.schedule.warmup")  # by --minutes


def run_to_resume(source: Source, out: str | Path | None, resume: str | Path | Literal[True]) -> tuple[Source, Path]:
    """The source and the folder: `--resume RUN` and `resume="RUN"` name the run, `--resume --out RUN` may begin it."""
    if resume is True:
        source = _without_run(source, out)
        if out is not None:
            return source, Path(out)
    if resume is not True:
        if out is not None and Path(out) != Path(resume):
            raise UserError(f"resume={str(resume)!r} and out={str(out)!r} are two runs; give one of them")
        folder = Path(resume)
    elif source is None or isinstance(source, (dict, list)):
        raise UserError("resume without a run; say which one: foresay train --resume RUN")
    else:
        source, folder = None, Path(source)
    if not (folder / "recipe.yaml").is_file():
        why = "it has no recipe.yaml" if folder.is_dir() else "no such folder"
        raise UserError(
            f"{folder} is no run: {why}; give the folder of a run, or --out RUN beside --resume to begin one"
        )
    return source, folder


def _without_run(source: Source, out: str | Path | None) -> Source:
    """What is given beside `--resume --out RUN`: the run named a second time is nothing new, another one too many."""
    given = source if isinstance(source, list) else [source] if isinstance(source, (str, Path)) else []
    run = next((Path(one) for one in given if _is_run(Path(one))), None)
    if run is None:
        return source
    if len(given) > 1:
        texts = ", ".join(str(one) for one in given if Path(one) != run)
        raise UserError(
            f"{texts or run} cannot be given beside --resume {run}: a run has its own texts; "
            "leave it out, or begin a new run without --resume"
        )
    if out is None:
        return source
    if run.resolve() != Path(out).resolve():
        raise UserError(f"resume={str(run)!r} and out={str(out)!r} are two runs; give one of them")
    return None


def _is_run(folder: Path) -> bool:
    """Whether a run was begun here; a folder of texts may well hold one of these files, hardly both."""
    return (folder / "recipe.yaml").is_file() and (folder / "config.json").is_file()


def saved_recipe(saved: Path, source: Source, words: list[str], minutes: float | None) -> Recipe:
    """The recipe of the run; what is given beside --resume must not contradict it."""
    recipe = recipes.complete(recipes.read(saved))
    if source is None:
        raw = recipe.as_dict()
    elif isinstance(source, dict) or recipes.is_recipe(source):
        raw = recipes.read(source)
    else:
        place = source if isinstance(source, list) else str(source)
        raw, _ = recipes.override(recipe.as_dict(), [f"data.train={json.dumps(place, ensure_ascii=False)}"])
    ours, given = (_flat(r.as_dict()) for r in (recipe, recipes.complete(recipes.override(raw, words)[0])))
    for key in ours | given:
        one, other = ours.get(key), given.get(key)
        if one == other or (minutes is not None and key.startswith(FITTED)):
            continue
        if key.startswith("data.") and _same_file(saved.parent, one, other):
            continue
        raise UserError(
            f"{key}={other!r}, but the run in {saved.parent} has {one!r}; "
            "resume it with its own settings, or give another --out"
        )
    return recipe


def own_text(folder: Path, recipe: Recipe) -> Any:
    """The data of a run's recipe, its paths as they can be opened from here."""
    config, about = read_config(folder), parts.describe(recipe.data)

    def found(value: Any) -> Any:
        if isinstance(value, list):
            return [found(inner) for inner in value]
        return located(folder, config, value) if isinstance(value, str) else value

    return parts.make(
        "data", about | {name: found(about[name]) for name in ("train", "valid", "test") if name in about}
    )


def own_prepared(folder: Path, recipe: Recipe, on_progress: Progress | None = None) -> Prepared:
    """The run's own text: its shards where they still are, else prepared again and checked to be the same."""
    name = read_config(folder)["data"]
    if (cache_folder() / name).is_dir():
        return open_prepared(cache_folder() / name)
    learnt = recipe.learnt_tokens
    tokens = open_tokens(folder) if learnt else parts.anew(recipe.tokens)
    try:
        prepared = prepare(own_text(folder, recipe), tokens, recipe.seed, on_progress=on_progress, learnt=learnt)
    except UserError as error:
        raise UserError(f"the text {folder} was trained on: {error}; or give a text to measure on") from None
    if prepared.folder.name != name:
        raise UserError(f"the text of {folder} has changed since it was trained; give a text to measure on")
    return prepared


def check_same_text(folder: Path, prepared: Prepared) -> None:
    """A run can only go on with the text it began with; a prepared text is named by its contents."""
    if read_config(folder)["data"] != prepared.folder.name:
        raise UserError(f"the text has changed since {folder} began; put it back, or start a new run")


def _same_file(folder: Path, ours: Any, given: Any) -> bool:
    """Whether a path given here is the one that the run was begun with elsewhere."""
    if not isinstance(ours, str) or not isinstance(given, str):
        return False
    return Path(located(folder, read_config(folder), ours)).resolve() == Path(given).expanduser().resolve()


def _flat(tree: Any, prefix: str = "") -> dict[str, Any]:
    """`{"a": {"b": 1}}` -> `{"a.b": 1}`."""
    if not isinstance(tree, dict):
        return {prefix: tree}
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        flat |= _flat(value, f"{prefix}.{key}" if prefix else key)
    return flat
