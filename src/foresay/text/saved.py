"""A tokeniser on disk: `tokenizer.json` for the library `tokenizers`, `text.json` for all that stands before it.

    {"format": 2, "tokens": {"kind": ..., settings}, "versions": {"jieba": "0.42.1"}, "learnt": {"phrases": ...}}

`text.json` is written last: where it is, both are whole. Format 1 had no versions and nothing learnt; it is still read.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from foresay import parts
from foresay.errors import UserError, nearest
from foresay.text.library import check_versions, versions
from foresay.text.tokens import SPECIALS, Tokens

FORMAT = 2
_STEPS = ("normalise", "segment", "stem", "phrases")


def write(folder: Path, tokens: Tokens, library: Tokenizer, learnt: dict[str, Any] | None = None) -> None:
    """Writes both files, each aside and then renamed."""
    folder.mkdir(parents=True, exist_ok=True)
    _replace(folder / "tokenizer.json", library.to_str(pretty=True))
    about = {"format": FORMAT, "tokens": parts.describe(tokens)}
    about |= {"versions": versions(_with_library(tokens)), "learnt": learnt or {}}
    _replace(folder / "text.json", json.dumps(about, ensure_ascii=False, indent=2) + "\n")


def read(folder: Path, tokens: Tokens) -> Tokenizer:
    """The library's tokeniser that `write` left, checked to be of the kind and the steps of `tokens`."""
    path, about = folder / "text.json", _read_about(folder)
    settings, ours = about["tokens"], parts.describe(tokens)
    if settings["kind"] != ours["kind"]:
        kind = settings["kind"]
        raise UserError(f"{path} is of tokens {kind}, not {ours['kind']}; set tokens.kind to {kind}")
    for step in _STEPS:
        if settings.get(step) != ours.get(step):
            raise UserError(f"{path} has {step}={settings.get(step)}, not {ours.get(step)}; set tokens.{step} to it")
    check_versions(about["versions"], _with_library(tokens), str(path))
    path = folder / "tokenizer.json"
    text = _text(path)
    try:
        library = Tokenizer.from_str(text)
    except Exception as error:  # the library raises plain Exception for every kind of damage
        raise UserError(f"{path} is damaged or of another program ({error}); prepare or train anew") from None
    ids = library.get_vocab(with_added_tokens=False).values()
    if set(ids) != set(range(len(ids))):
        raise UserError(f"{path} is damaged: the ids are not 0 to {len(ids) - 1}; prepare or train anew")
    if [library.id_to_token(i) for i in range(len(SPECIALS))] != list(SPECIALS):
        raise UserError(f"{path} is not Foresay's: ids 0-4 must be {' '.join(SPECIALS)}; give a folder Foresay wrote")
    return library


def read_settings(folder: Path) -> dict[str, Any]:
    """The `{kind: ..., settings}` that `text.json` holds."""
    path, settings = folder / "text.json", _read_about(folder)["tokens"]
    kind, known = settings["kind"], parts.names("tokens")
    if kind not in known:
        raise UserError(f"{path}: {kind!r} is no tokeniser; allowed: {', '.join(known)}{nearest(str(kind), known)}")
    return settings


def read_phrases(folder: Path) -> list[list[tuple[str, str]]]:
    """The phrases of each pass that `text.json` holds."""
    found = _read_about(folder)["learnt"].get("phrases")
    try:
        passes = [[(str(a), str(b)) for a, b in pairs] for pairs in found]
    except (TypeError, ValueError):
        raise UserError(f"{folder / 'text.json'} holds no phrases; prepare or train anew") from None
    return passes


def _read_about(folder: Path) -> dict[str, Any]:
    path = folder / "text.json"
    text = _text(path)
    try:
        about = json.loads(text)
        settings, form, _ = about["tokens"], about["format"], about["tokens"]["kind"]
        beside = [about.setdefault(name, {}) for name in ("versions", "learnt")]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UserError(f"{path} is damaged or of another program; prepare or train anew") from None
    for name, found in zip(("versions", "learnt"), beside, strict=True):
        if not isinstance(found, dict):
            raise UserError(f"{path} is damaged: {name} is {str(found)[:40]}; prepare or train anew")
    if form == 1 and not settings.pop("lowercase", False):
        return about
    if form != FORMAT:
        raise UserError(f"{path} has format {form}; this version reads {FORMAT}: prepare or train anew")
    return about


def _with_library(tokens: Tokens) -> list[Any]:
    """The steps of a tokeniser that another library does."""
    return [part for part in tokens.settings.values() if hasattr(part, "library")]


def open_tokens(folder: Path) -> Tokens:
    """The tokeniser saved in a folder, whatever its kind."""
    tokens: Tokens = parts.make("tokens", read_settings(folder), "text.json")
    tokens.load(folder)
    return tokens


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{path} is missing; give the folder of a run or of a prepared corpus") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read ({error}); prepare or train anew") from None


def _replace(path: Path, text: str) -> None:
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with aside.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def code_points(folder: Path, vocabulary: dict[str, int]) -> np.ndarray:
    """The code point of ids 5, 6, ... of a vocabulary of characters."""
    pieces = sorted(vocabulary, key=vocabulary.__getitem__)[len(SPECIALS) :]
    if any(len(piece) != 1 for piece in pieces):
        raise UserError(f"{folder / 'tokenizer.json'} is no vocabulary of characters; prepare or train anew")
    return np.array([ord(piece) for piece in pieces], dtype=np.uint32)
