"""A tokeniser on disk: `tokenizer.json` for the library `tokenizers`, `text.json` for the kind and its settings."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from foresay import parts
from foresay.errors import UserError, nearest
from foresay.text.tokens import SPECIALS, Tokens

FORMAT = 1


def write(folder: Path, tokens: Tokens, library: Tokenizer) -> None:
    """Writes both files, each aside and then renamed."""
    folder.mkdir(parents=True, exist_ok=True)
    _replace(folder / "tokenizer.json", library.to_str(pretty=True))
    about = {"format": FORMAT, "tokens": parts.describe(tokens)}
    _replace(folder / "text.json", json.dumps(about, ensure_ascii=False, indent=2) + "\n")


def read(folder: Path, tokens: Tokens) -> Tokenizer:
    """The library's tokeniser that `write` left, checked to be of the kind of `tokens`."""
    kind = read_settings(folder)["kind"]
    ours = type(tokens).part_name  # pyright: ignore[reportAttributeAccessIssue]
    if kind != ours:
        raise UserError(f"{folder / 'text.json'} is of tokens {kind}, not {ours}; set tokens.kind to {kind}")
    path = folder / "tokenizer.json"
    text = _text(path)
    try:
        library = Tokenizer.from_str(text)
    except Exception as error:  # the library raises plain Exception for every kind of damage
        raise UserError(f"{path} is damaged or of another program ({error}); prepare or train anew") from None
    if [library.id_to_token(i) for i in range(len(SPECIALS))] != list(SPECIALS):
        raise UserError(f"{path} is not Foresay's: ids 0-4 must be {' '.join(SPECIALS)}; give a folder Foresay wrote")
    return library


def read_settings(folder: Path) -> dict[str, Any]:
    """The `{kind: ..., settings}` that `text.json` holds."""
    path = folder / "text.json"
    try:
        about = json.loads(_text(path))
        settings = about["tokens"]
        form = about["format"]
        kind = settings["kind"]
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{path} is damaged or of another program; prepare or train anew") from None
    if form != FORMAT:
        raise UserError(f"{path} has format {form}; this version reads {FORMAT}: use the version that wrote it")
    if kind not in parts.names("tokens"):
        known = parts.names("tokens")
        raise UserError(f"{path}: {kind!r} is no tokeniser; allowed: {', '.join(known)}{nearest(str(kind), known)}")
    return settings


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
