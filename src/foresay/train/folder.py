"""The run folder: made, locked, written file by file so that nothing is ever half there.

    runs/NAME/  recipe.yaml  tokenizer.json  config.json  model.safetensors  README.md  metrics.jsonl  curve.png
                checkpoints/

`config.json` holds the SHA-256 of `model.safetensors`: a damaged model is noticed when it is loaded.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
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
from foresay.train.checkpoint import write_file, write_tensors

RUNS = Path("runs")


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

    A folder made here is removed again when the work fails before `recipe.yaml` is in it.
    """
    there = folder.exists()
    if there and not resume and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} exists; allowed: a new folder: give another --out, or --resume to go on with it")
    with _no_half_run(folder, there), _locked(folder):
        yield (folder / "recipe.yaml").exists()


@contextmanager
def _no_half_run(folder: Path, there: bool) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException as error:
        if not there and not (folder / "recipe.yaml").exists():
            shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise disk_error(error, folder) from None
        raise


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


def disk_error(error: OSError, folder: Path) -> UserError:
    """A full, read-only or missing disk as one line."""
    place = error.filename or folder
    reason = error.strerror or str(error)
    return UserError(f"{place}: {reason}; nothing was half-written: free some space or give another --out")


def write_config(folder: Path, task: str, vocabulary: int, model: Path | None = None) -> None:
    """`config.json`, as a Hugging Face repository has it; with the hash once the model is there."""
    config: dict[str, Any] = {"model_type": "foresay", "task": task, "vocabulary": vocabulary, "foresay": __version__}
    if model is not None:
        config["sha256"] = _hash(model)
    write_file(folder / "config.json", json.dumps(config, indent=1).encode())


def write_model(folder: Path, tensors: dict[str, Tensor], task: str, vocabulary: int) -> None:
    """The finished weights, then the config with their hash."""
    write_tensors(folder / "model.safetensors", tensors)
    write_config(folder, task, vocabulary, folder / "model.safetensors")


def read_config(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise UserError(f"{folder} is no run: no such folder; train one first: foresay train my.txt --out {folder}")
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path} is missing; {folder} is no run of Foresay, or an unfinished copy of one") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path} is damaged: {error}") from None
    if not isinstance(config, dict) or config.get("model_type") != "foresay":
        raise UserError(f"{path} is not of Foresay; allowed: a folder written by foresay train")
    return config


def read_model(folder: Path, config: dict[str, Any]) -> dict[str, Tensor] | None:
    """The finished weights, checked against their hash; None when the run is not finished."""
    path = folder / "model.safetensors"
    if not path.exists():
        if "sha256" in config:
            raise UserError(f"{path} is missing; copy it back, or resume the run to write it again")
        return None
    if "sha256" not in config:
        return None  # killed between the two writes: the checkpoints rule
    if _hash(path) != config["sha256"]:
        raise UserError(f"{path} is damaged or not of this run: its SHA-256 is not config.json's; copy it again")
    try:
        return load_file(path)
    except SafetensorError as error:
        raise UserError(f"{path} cannot be read: {error}") from None


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
