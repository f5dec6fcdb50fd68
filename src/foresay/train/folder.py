"""The run folder: made, locked, written file by file so that nothing is ever half there.

    runs/NAME/  recipe.yaml  tokenizer.json  text.json  config.json  model.safetensors  README.md  metrics.jsonl
                results.json  curve.png  checkpoints/  tensorboard/ (where asked for)  code/ (users' own parts)

`config.json` holds the SHA-256 of the tokeniser, of the finished model and of the users' files that its parts come
from: damage is noticed when they are loaded, and what lies in `code/` is run only where the user trusts the run. Its
`base` is the way from the run to the folder it was begun in, which relative paths in the recipe are meant from.
`recipe.yaml` comes after the tokeniser and the config: a folder without it holds no run yet.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import hashlib
import json
import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from foresay import __version__, own
from foresay import recipe as recipes
from foresay.data.label_shards import LABELS
from foresay.data.levels import FILE as LEVELS
from foresay.data.prepare import SOURCE, TAGS
from foresay.data.series_form import FILE as SERIES
from foresay.embed.elmo import FOLDER as ELMO
from foresay.embed.elmo import KEPT, WEIGHTS
from foresay.errors import UserError
from foresay.recipe import Recipe
from foresay.train.aside import file_hash, left_over, write_file, write_tensors

RUNS = Path("runs")
MODEL = "model.safetensors"
TOKENS = ("tokenizer.json", "text.json")
BEGUN = (
    *TOKENS,
    "config.json",
    ".lock",
    SOURCE,
    TAGS,
    LABELS,
    LEVELS,
    SERIES,
    ELMO,
)  # what is there before recipe.yaml is
# what stands in a run folder beside checkpoints
WRITTEN = (".py", ".yaml", ".json", ".jsonl", ".md", ".png", ".safetensors")


def next_free(name: str, suffix: str = "") -> Path:
    """`runs/name`, or `runs/name-2`, `-3` ... when that exists; with a suffix for a file."""
    path, number = RUNS / f"{name}{suffix}", 1
    while path.exists():
        number += 1
        path = RUNS / f"{name}-{number}{suffix}"
    return path


@contextmanager
def opened(folder: Path, *, resume: bool) -> Iterator[bool]:
    """Makes (or, to resume, takes) a run folder and holds its lock; gives whether a run was already there.

    When the work fails before `recipe.yaml` is there, what was made is removed again.
    """
    try:
        there = folder.exists()
        _check_free(folder, resume)
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder), _no_half_run(folder, made=not there):
            yield (folder / "recipe.yaml").exists()
    except BrokenPipeError:  # of standard error, not of the folder
        raise
    except OSError as error:
        raise disk_error(error, folder) from None


def _check_free(folder: Path, resume: bool) -> None:
    if not folder.exists() or (folder.is_dir() and all(_nothing_of_a_run(path) for path in folder.iterdir())):
        return
    if not folder.is_dir() or not resume:
        onward = f", or go on with a run: {how_to_resume(folder)}" if (folder / "recipe.yaml").is_file() else ""
        raise UserError(f"{folder} exists; allowed: a new folder: give another --out{onward}")
    if not (folder / "recipe.yaml").exists():
        begun = {*BEGUN, own.FOLDER} if _begun_code(folder) else {*BEGUN}
        strange = [path.name for path in folder.iterdir() if path.name not in begun and not _left_here(path)]
        if strange:
            raise UserError(f"{folder} is no run but holds {sorted(strange)[0]}; give another --out")


def _nothing_of_a_run(path: Path) -> bool:
    """Whether this is all that is left of a run that was killed before anything was kept: its lock, files aside."""
    return path.name == ".lock" or _left_here(path)


def _begun_code(folder: Path) -> list[Path]:
    """The copies of users' files in a folder that holds no run yet; none where anything else lies beside them."""
    try:
        written = [folder / name for name in json.loads((folder / "config.json").read_text("utf-8"))["sha256"]]
    except (OSError, ValueError, LookupError, TypeError):
        return []
    there = [*(folder / own.FOLDER).glob("*")]
    return there if all(path in written or _left_here(path) for path in there) else []


def _left_here(path: Path) -> bool:
    """Whether a killed writer of ours left this file; a user's own hidden files are no such."""
    return (left_over(path) or "").endswith(WRITTEN) and path.is_file()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
            raise UserError(
                f"{folder} is being trained by another process; wait for it, or give another --out"
            ) from None
        yield


@contextmanager
def _no_half_run(folder: Path, made: bool) -> Iterator[None]:
    for path in folder.iterdir():
        if _left_here(path):
            path.unlink()
    try:
        yield
    except BaseException:
        if not (folder / "recipe.yaml").exists():
            for path in _begun_code(folder):
                path.unlink()
            if (folder / own.FOLDER).is_dir() and not any((folder / own.FOLDER).iterdir()):
                (folder / own.FOLDER).rmdir()
            inner = [*(f"{SOURCE}/{one}" for one in TOKENS), *(f"{ELMO}/{one}" for one in (*KEPT, WEIGHTS))]
            for name in (*inner, *BEGUN):
                if (folder / name).is_dir():
                    if not any((folder / name).iterdir()):
                        (folder / name).rmdir()
                else:
                    (folder / name).unlink(missing_ok=True)
            if made:
                shutil.rmtree(folder, ignore_errors=True)
        raise


def disk_error(error: OSError, folder: Path) -> UserError:
    """A full, read-only or missing disk as one line."""
    begun = (folder / "recipe.yaml").exists()
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
    what = "free some space" if full else "mend that"
    remedy = f"{what}, then {how_to_resume(folder)}" if begun else f"{what} or give another --out"
    return UserError(f"{error.filename or folder}: {error.strerror or error}; nothing was half-written: {remedy}")


def how_to_resume(folder: Path) -> str:
    """The command that goes on with a run."""
    return f"foresay train --resume {shlex.quote(str(folder))}{trust_for(folder)}"


def trust_for(folder: Path) -> str:
    """The option that a command needs to use a run: one with code of its own has to be trusted."""
    return " --trust" if (folder / own.FOLDER).is_dir() else ""


def base_here(folder: Path) -> str:
    """The way from a run folder to the present one; it holds as long as the two move together."""
    return os.path.relpath(Path.cwd().resolve(), folder.resolve())


def located(folder: Path, config: dict[str, Any], path: str) -> str:
    """A path of a run's recipe, as it can be opened from anywhere; what is not there is left as it is."""
    base = Path(os.path.normpath(folder.resolve() / str(config.get("base", "."))))
    there = (base / path).exists() or (glob.has_magic(path) and any(glob.iglob(path, root_dir=base)))  # noqa: PTH207
    return str(base / path) if there else path


def write_config(
    folder: Path, task: str, vocabulary: int, data: str, base: str, code: Mapping[str, str] | None = None
) -> None:
    """`config.json`, as a Hugging Face repository has it, with the hashes of what is there; `data` names the text.

    `code` are the hashes of the users' files that the run keeps.
    """
    own = [*(f"{SOURCE}/{name}" for name in TOKENS), *(f"{ELMO}/{name}" for name in KEPT)]
    kept = [name for name in (*TOKENS, *own, TAGS, LABELS, LEVELS, SERIES, MODEL) if (folder / name).exists()]
    hashes = {name: file_hash(folder / name) for name in kept} | dict(code or {})
    config: dict[str, Any] = {"model_type": "foresay", "task": task, "vocabulary": vocabulary, "data": data}
    config |= {"base": base, "foresay": __version__, "sha256": hashes}
    write_file(folder / "config.json", json.dumps(config, indent=1).encode())


def write_model(folder: Path, tensors: dict[str, Tensor], task: str, vocabulary: int, data: str) -> None:
    """The finished weights, then the config with their hash; a bilm's are now among them."""
    config = read_config(folder)
    code = {name: digest for name, digest in config["sha256"].items() if _is_code(name)}
    write_tensors(folder / MODEL, tensors)
    write_config(folder, task, vocabulary, data, config.get("base", "."), code)
    (folder / ELMO / WEIGHTS).unlink(missing_ok=True)


def write_recipe(folder: Path, recipe: Recipe, vocabulary: int, data: str) -> None:
    """The config, copies of the users' files that it has the hashes of, and last the recipe: now it is a run."""
    code = recipe.code()
    hashes = {name: hashlib.sha256(source).hexdigest() for name, source in code.items()}
    write_config(folder, recipe.task.part_name, vocabulary, data, base_here(folder), hashes)
    for name, source in code.items():
        (folder / name).parent.mkdir(exist_ok=True)
        write_file(folder / name, source)
    write_file(folder / "recipe.yaml", recipe.as_yaml().encode())


@contextmanager
def own_code(folder: Path, *, trust: bool) -> Iterator[None]:
    """While it lasts, users' files mean the run's copies, which are run only where the user trusts the run."""
    with own.opened(folder, lambda: read_config(folder)["sha256"], trust=trust):
        yield


def read_recipe(folder: Path, *, trust: bool = False, model: bool = True) -> Recipe:
    """The recipe of a run; one with code of its own is read with trust, or without its model."""
    with own_code(folder, trust=trust):
        return recipes.complete(recipes.read(folder / "recipe.yaml"), model=model)


def _is_code(name: str) -> bool:
    return name.startswith(f"{own.FOLDER}/")


def read_config(folder: Path) -> dict[str, Any]:
    """`config.json`, checked to be Foresay's; the tokeniser beside it must be the one it was written for."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file, no run; give a folder that foresay train has written")
    if not folder.is_dir():
        how = f"foresay train my.txt --out {shlex.quote(str(folder))}"
        raise UserError(f"{folder} is no run: no such folder; train one first: {how}")
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path} is missing; {folder} is no run of Foresay, or an unfinished copy of one") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path} is damaged: {error}; copy it again") from None
    if not isinstance(config, dict) or config.get("model_type") != "foresay":
        raise UserError(f"{path} is not of Foresay; allowed: a folder written by foresay train")
    if not isinstance(config.get("sha256"), dict):
        raise UserError(f"{path} is damaged: it has no hashes; copy it again")
    for name in config["sha256"].keys() - {MODEL}:
        if _is_code(name):  # checked as it is read, to be run
            continue
        _check_hash(folder / name, config, name)
    return config


def read_model(folder: Path, config: dict[str, Any]) -> dict[str, Tensor] | None:
    """The finished weights, checked against their hash; None when the run is not finished."""
    if MODEL not in config["sha256"]:
        return None  # also when the model is there: killed before the config, the checkpoints rule
    _check_hash(folder / MODEL, config)
    try:
        return load_file(folder / MODEL)
    except SafetensorError as error:
        raise UserError(f"{folder / MODEL} cannot be read: {error}") from None


def is_finished(folder: Path) -> bool:
    """Whether the run has its model, whole."""
    try:
        return read_model(folder, read_config(folder)) is not None
    except UserError:
        return False


def _check_hash(path: Path, config: dict[str, Any], name: str = MODEL) -> None:
    try:
        found = file_hash(path)
    except FileNotFoundError:
        again = f", or write it again: {how_to_resume(path.parent)}" if path.name == MODEL else ""
        raise UserError(f"{path} is missing; copy it back{again}") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    if found != config["sha256"][name]:
        raise UserError(f"{path} is damaged or not of this run: its SHA-256 is not config.json's; copy it again")
