"""Checkpoints: whole or not there, no pickle, and a damaged one is noticed (SPEC E7).

    checkpoints/00001000/   model.safetensors  optimizer.safetensors  carried.safetensors  random.safetensors
                            averages.safetensors, where weights are averaged
                            state.json         manifest.json: SHA-256 of every file, written last
    checkpoints/best/       model.safetensors and its manifest: the weights, or averages, with the best validation loss
    checkpoints/latest      the name of the newest, swapped by rename

A checkpoint is written into a folder aside, every file is flushed to the disk, and the folder renamed: a kill at
any moment leaves the old ones whole. Reading checks the hashes; a damaged one is named and the one before it used.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from foresay.errors import UserError
from foresay.train.aside import (
    aside,
    file_hash,
    left_over,
    remove,
    sync,
    write_file,
    write_flushed,
    write_tensors_flushed,
)

Parts = dict[str, dict[str, Tensor]]  # file stem -> named tensors
CHECKPOINTS = "checkpoints"  # their folder in a run's
MANIFEST = "manifest.json"
OLD = re.compile(r"\.(.+)\.old")  # on its way out, between the two renames that put a new one in its place


def save_checkpoint(folder: Path, name: str, tensors: Parts, state: dict[str, Any]) -> Path:
    """Writes one checkpoint `folder/name`; it appears whole or not at all."""
    final, old = folder / name, folder / f".{name}.old"
    folder.mkdir(parents=True, exist_ok=True)
    with aside(final) as place:
        place.mkdir()
        hashes = {}
        for stem, named in tensors.items():
            hashes[f"{stem}.safetensors"] = write_tensors_flushed(place / f"{stem}.safetensors", named)
        hashes["state.json"] = write_flushed(place / "state.json", json.dumps(state, indent=1).encode())
        write_flushed(place / MANIFEST, json.dumps({"sha256": hashes}, indent=1).encode())
        sync(place)
        if final.exists():
            final.rename(old)
    shutil.rmtree(old, ignore_errors=True)
    return final


def point_to_latest(folder: Path, name: str) -> None:
    """Swaps `latest` by rename: a reader sees the old name or the new one."""
    write_file(folder / "latest", f"{name}\n".encode())


def numbered(folder: Path) -> list[Path]:
    """The finished checkpoints of a run, oldest first; `best` is not among them."""
    return sorted(path for path in folder.glob("[0-9]*") if path.is_dir()) if folder.exists() else []


def prune(folder: Path, keep: int) -> None:
    """Removes all but the newest `keep` checkpoints, and what killed writers left behind."""
    for old in numbered(folder)[:-keep]:
        shutil.rmtree(old)
    sweep(folder)


def sweep(folder: Path) -> None:
    """Removes what killed writers left; a `best` that was between its two renames is put back."""
    for left in folder.glob(".*"):
        old = OLD.fullmatch(left.name)
        if old and not (folder / old[1]).exists():
            left.rename(folder / old[1])
        elif old or left_over(left):
            remove(left)


def load_checkpoint(path: Path) -> tuple[Parts, dict[str, Any]]:
    """Tensors and state of one checkpoint; a UserError names the file that is missing or damaged."""
    tensors: Parts = {}
    state = None
    for name, expected in _manifest(path).items():
        file = path / name
        try:
            if file_hash(file) != expected:
                raise UserError(f"{file} is damaged: its SHA-256 is not the manifest's")
            if file.suffix == ".json":
                state = json.loads(file.read_text("utf-8"))
            else:
                tensors[file.stem] = load_file(file)
        except FileNotFoundError:
            raise UserError(f"{file} is missing; the checkpoint is damaged") from None
        except (OSError, SafetensorError, json.JSONDecodeError, UnicodeDecodeError) as error:
            raise UserError(f"{file} cannot be read: {error}") from None
    if not isinstance(state, dict) or "model" not in tensors:
        raise UserError(f"{path} is no checkpoint of Foresay: it has no model or no state")
    return tensors, state


def newest(folder: Path, on_damage: Callable[[str], None]) -> tuple[Path, Parts, dict[str, Any]] | None:
    """The newest whole checkpoint; each damaged one is reported and the one before it tried."""
    for path in reversed(numbered(folder)):
        try:
            return path, *load_checkpoint(path)
        except UserError as error:
            on_damage(f"{error}; using the one before it")
    return None


def _manifest(path: Path) -> dict[str, str]:
    try:
        hashes = json.loads((path / MANIFEST).read_text("utf-8"))["sha256"]
    except FileNotFoundError:
        raise UserError(f"{path / MANIFEST} is missing; the checkpoint is damaged") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(f"{path / MANIFEST} is damaged") from None
    if not isinstance(hashes, dict):
        raise UserError(f"{path / MANIFEST} is damaged")
    return hashes
