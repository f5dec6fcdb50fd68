"""A run on Hugging Face's hub: hub:OWNER/NAME, or hub:OWNER/NAME@REVISION, becomes a folder in the library's cache.

Without `hub:`, the word that data sets have too, a name is always of this disk: a misspelt one never asks a network.
config.json is fetched first: of a repository that is no run of Foresay nothing else is. Without a network,
or with HF_HUB_OFFLINE=1, what is in the cache is used. Code that a run brings along is run only where it is trusted, as
that of any run.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from foresay.errors import UserError
from foresay.extras import need

PREFIX = "hub:"
WITHOUT = ["checkpoints/*", "tensorboard/*"]  # what a run in use needs not
_NAME = re.compile(r"(\w[\w.-]*)/(\w[\w.-]*)(@[\w./-]+)?")


def is_name(path: str | Path) -> bool:
    """Whether this means a run on the hub."""
    return str(path).startswith(PREFIX)


def last_part(path: str | Path) -> str:
    """The NAME of a run on the hub."""
    return str(path).removeprefix(PREFIX).partition("@")[0].rpartition("/")[2]


def local(path: str | Path) -> Path:
    """The folder of a run: fetched where `path` is a name of the hub, else the path itself."""
    if not is_name(path):
        return Path(path)
    name = str(path).removeprefix(PREFIX)
    if _NAME.fullmatch(name) is None:
        raise UserError(f"{path} names no run of the hub; allowed: {PREFIX}OWNER/NAME or {PREFIX}OWNER/NAME@REVISION")
    library = need("huggingface_hub", "hub", f"{path}, which is a run on the hub: that")
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # it tells of each time it tries again
    repository, _, revision = name.partition("@")
    where = {"repo_id": repository, "revision": revision or None}
    config = _asked(name, library, lambda: library.hf_hub_download(filename="config.json", **where))
    if not _is_ours(Path(config)):
        raise UserError(f"{path} is no run of Foresay; allowed: one that was uploaded from a run's folder")
    return Path(_asked(name, library, lambda: library.snapshot_download(ignore_patterns=WITHOUT, **where)))


def _is_ours(config: Path) -> bool:
    try:
        found = json.loads(config.read_text("utf-8"))
    except ValueError:
        return False
    return isinstance(found, dict) and found.get("model_type") == "foresay"


def _asked(name: str, library: Any, ask: Callable[[], str]) -> str:
    """The library's answer; what goes wrong is one line."""
    errors: Any = import_module(f"{library.__name__}.errors")
    try:
        return ask()
    except errors.GatedRepoError:
        why = "asks who you are: request access on its page, then hf auth login"
    except errors.RepositoryNotFoundError:
        why = "is not there, or is private: check the name, or hf auth login"
    except errors.RevisionNotFoundError:
        why = "has no such revision: check what stands after @"
    except (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled):
        why = "cannot be reached, and the cache has it not: check the name and the network"
    except errors.EntryNotFoundError:
        why = "is no run of Foresay, for it has no config.json: give another"
    except Exception as error:  # whatever else a network may bring
        first = (str(error) or type(error).__name__).split("\n")[0].rstrip(".")
        why = f"cannot be had ({first}): check the name and the network"
    raise UserError(f"{PREFIX}{name} {why}")
