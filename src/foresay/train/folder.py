"""The run folder: made, locked, written file by file so that nothing is ever half there.

    runs/NAME/  recipe.yaml  tokenizer.json  text.json  config.json  model.safetensors  README.md  metrics.jsonl
                results.json  curve.png  checkpoints/

`config.json` holds the SHA-256 of the tokeniser and of the finished model: damage is noticed when they are loaded.
`recipe.yaml` comes after the tokeniser and the config: a folder without it holds no run yet.
"""

from __future__ import annotations

import errno
import fcntl
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from foresay import __version__
from foresay.errors import UserError
from foresay.train.checkpoint import file_hash, write_file, write_tensors

RUNS = Path("runs")
MODEL = "model.safetensors"
BEGUN = ("tokenizer.json", "text.json", "config.json", ".lock")  # what is there before recipe.yaml is
ASIDE = re.compile(r"\..+\.(yaml|jsonl?|md|png|safetensors)\.\d+")  # what a killed writer leaves: .NAME.PROCESS


def next_free(name: str) -> Path:
    """`runs/name`, or `runs/name-2`, `-3` ... when that exists."""
    path, number = RUNS / name, 1
    while path.exists():
        number += 1
        path = RUNS / f"{name}-{number}"
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
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not folder.is_dir() or not resume:
        raise UserError(f"{folder} exists; allowed: a new folder: give another --out, or --resume to go on with a run")
    if not (folder / "recipe.yaml").exists():
        strange = [p.name for p in folder.iterdir() if p.name not in BEGUN and not ASIDE.fullmatch(p.name)]
        if strange:
            raise UserError(f"{folder} is no run but holds {sorted(strange)[0]}; give another --out")


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
        if ASIDE.fullmatch(path.name):
            path.unlink()
    try:
        yield
    except BaseException:
        if not (folder / "recipe.yaml").exists():
            for name in BEGUN:
                (folder / name).unlink(missing_ok=True)
            if made:
                shutil.rmtree(folder, ignore_errors=True)
        raise


def disk_error(error: OSError, folder: Path) -> UserError:
    """A full, read-only or missing disk as one line."""
    begun = (folder / "recipe.yaml").exists()
    remedy = "free some space and go on with --resume" if begun else "free some space or give another --out"
    return UserError(f"{error.filename or folder}: {error.strerror or error}; nothing was half-written: {remedy}")


def write_config(folder: Path, task: str, vocabulary: int, data: str) -> None:
    """`config.json`, as a Hugging Face repository has it, with the hashes of what is there; `data` names the text."""
    kept = [name for name in ("tokenizer.json", "text.json", MODEL) if (folder / name).exists()]
    config: dict[str, Any] = {"model_type": "foresay", "task": task, "vocabulary": vocabulary, "data": data}
    config |= {"foresay": __version__, "sha256": {name: file_hash(folder / name) for name in kept}}
    write_file(folder / "config.json", json.dumps(config, indent=1).encode())


def write_model(folder: Path, tensors: dict[str, Tensor], task: str, vocabulary: int, data: str) -> None:
    """The finished weights, then the config with their hash."""
    write_tensors(folder / MODEL, tensors)
    write_config(folder, task, vocabulary, data)


def read_config(folder: Path) -> dict[str, Any]:
    """`config.json`, checked to be Foresay's; the tokeniser beside it must be the one it was written for."""
    if not folder.is_dir():
        raise UserError(f"{folder} is no run: no such folder; train one first: foresay train my.txt --out {folder}")
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
        _check_hash(folder / name, config)
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


def _check_hash(path: Path, config: dict[str, Any]) -> None:
    try:
        found = file_hash(path)
    except FileNotFoundError:
        again = ", or go on with --resume to write it again" if path.name == MODEL else ""
        raise UserError(f"{path} is missing; copy it back{again}") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    if found != config["sha256"][path.name]:
        raise UserError(f"{path} is damaged or not of this run: its SHA-256 is not config.json's; copy it again")
