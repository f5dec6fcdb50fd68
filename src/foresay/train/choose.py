"""No settings needed: looks at the text, its size, the device and the time, and writes a recipe for it.

Every choice comes with its reason, is printed, and stands in the saved recipe, where it can be changed. The numbers
behind the choices were measured on texts in English and Chinese: docs/log.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foresay import recipe as recipes
from foresay.data.images import Images
from foresay.data.numeric import columns_of_numbers
from foresay.data.peek import peek
from foresay.data.place_kind import OTHERS, other_than_text
from foresay.data.records import DEFAULT
from foresay.data.series import Series
from foresay.data.sounds import Sounds
from foresay.errors import UserError, nearest
from foresay.text.script import detect
from foresay.train.choose_media import choose_media
from foresay.train.choose_series import choose_series

Text = str | Path | list[str]
SMALL = 4_000_000  # bytes under which a text has too few words to learn subwords well from
TINY = 300_000
SHORT = 4.0  # minutes
CHUNK = 64
UPDATES = 1500  # a model needs about so many steps to get anywhere, however few tokens each has
SPEED = {"cpu": 1e11, "cuda": 2e13}  # multiply-adds and additions per second, roughly: two cores, one large GPU


@dataclass(frozen=True)
class Chosen:
    """A raw recipe, and why it is as it is: the path of a setting -> the reason for its value."""

    recipe: dict[str, Any]
    reasons: dict[str, str]

    def holding(self, final: dict[str, Any]) -> list[str]:
        """The reasons for what is still as it was chosen."""
        return [why for path, why in self.reasons.items() if _at(final, path) == _at(self.recipe, path)]


@dataclass(frozen=True)
class Look:
    """What was seen: the kind of tokens and how many symbols and tokens there will be, roughly."""

    tokens: dict[str, Any]
    why: str
    symbols: int
    length: float


def choose_for(source: Text, words: Sequence[str], device: str, minutes: float) -> Chosen:
    """A recipe for a text, or a list of texts, looked at as those of the `key=value` words say that speak of data."""
    place = source if isinstance(source, list) else str(source)
    if place == []:
        raise UserError("no text is given; give a file, a folder, a pattern, or a recipe")
    kinds = [word.partition("=")[2] for word in words if word.startswith(("data=", "data.kind="))]
    given = [word for word in words if word.startswith("data.") and not word.startswith("data.kind=")]
    kind = kinds[-1] if kinds else other_than_text(place) if isinstance(place, str) else None
    if kind not in (None, "text", *OTHERS):
        raise UserError(
            f"data.kind={kind} and no recipe, and one is chosen only for text, {', '.join(OTHERS)}; give a recipe "
            "that reads it: foresay list recipes"
        )
    begun = {"train": place} if kind is None else {"kind": kind, "train": place}
    raw, _ = recipes.override({"task": "language-model", "data": begun}, given)
    corpus = recipes.complete(raw).data
    if isinstance(corpus, (Images, Sounds)):
        return Chosen(*choose_media(corpus, raw["data"], device))
    if isinstance(corpus, Series):
        return Chosen(*choose_series(corpus, raw["data"], device))
    if isinstance(place, str) and kind is None:
        _check_no_numbers(place, corpus.read.column)
    try:
        sample, size = peek(corpus)
    except UserError:  # a name that is neither a text nor a recipe may be a misspelt recipe
        name = place if isinstance(place, str) else ""
        close = nearest(name, recipes.built_in())
        if not close or Path(name).suffix or Path(name).exists():
            raise
        known = ", ".join(recipes.built_in())
        raise UserError(f"{name!r} is no text and no recipe; recipes: {known}{close}") from None
    return choose(place, sample, size, device, minutes)


def _check_no_numbers(place: str, column: str | int | None) -> None:
    """Refuses a column of numbers as a text, and a table with such and none called text, unless data.kind says so."""
    path = Path(place).expanduser()
    held = columns_of_numbers(path) if path.is_file() else {}
    numbers = [name for name, its in held.items() if its]
    if column in numbers:
        raise UserError(
            f"data.column={column} of {place} holds numbers; set data.kind=series and data.columns=[{column}] to learn "
            "them as a series, or data.kind=text to learn their digits"
        )
    if column is None and numbers and len(held) > 1 and DEFAULT not in held:
        raise UserError(
            f"{place} has the columns {', '.join(list(held)[:20])} and none called text; set data.kind=series, which "
            f"reads {', '.join(numbers[:5])}, or name one of text: data.column=..."
        )


def choose(source: str | list[str], sample: str, size: int, device: str, minutes: float) -> Chosen:
    """A recipe for the text `source` of `size` bytes, of which `sample` is a part, and `minutes` of training."""
    look = _look(sample, size)
    width, why_width = _width(size, device, minutes)
    vectors = 256 if look.symbols > 1000 else 128
    work = 6 * (4 * width * (width + vectors) + vectors * (width + look.symbols))  # per token, forward and back
    affordable = 0.8 * 60 * minutes * SPEED.get(device, 1e11) / work
    rows = _rows(affordable, device)
    passes = affordable / max(look.length, 1)
    dropout = 0.1 if passes < 2 else 0.25 if passes < 5 else 0.4
    lr = 0.006 if minutes < SHORT else 0.004
    batches = {"kind": "streams", "rows": rows, "chunk": CHUNK, "forget": 0.05 if passes < 2 else 0.0}
    schedule = {"kind": "cosine", "warmup": 200, "floor": 0.02}
    recipe = {
        "task": "language-model",
        "data": {"train": source},
        "tokens": look.tokens,
        "embedding": {"kind": "lookup", "size": vectors},
        "encoder": {"kind": "recurrent", "cell": "lstm", "layers": 1, "size": width, "dropout": dropout},
        "output": {"kind": "softmax", "tied": vectors >= 256},
        "train": {
            "batches": batches,
            "optimizer": {"kind": "adamw", "lr": lr, "schedule": schedule},
            "precision": "bfloat16" if device == "cuda" else "float32",
        },
    }
    reasons = {
        "tokens": look.why,
        "encoder": f"{why_width}, with dropout {dropout}",
        "train.batches": f"{rows} rows of {CHUNK} tokens a step, state carried over",
    }
    return Chosen(recipe, reasons)


def _at(recipe: dict[str, Any], path: str) -> Any:
    for key in path.split("."):
        recipe = recipe.get(key, {})
    return recipe


def _look(sample: str, size: int) -> Look:
    script = detect(sample)
    share = script.han + script.kana
    bytes_per_character = max(len(sample.encode()), 1) / max(len(sample), 1)
    characters = size / bytes_per_character
    if share > 0.3:
        why = f"characters: {100 * share:.0f} % of the text is Chinese or Japanese"
        return Look({"kind": "characters"}, why, 6000, characters)
    if size < SMALL:
        why = f"characters: {size / 1e6:.1f} MB is little text to learn subwords from"
        return Look({"kind": "characters"}, why, 100, characters)
    symbols = 4000 if size < 20 * SMALL else 16000
    return Look(
        {"kind": "subwords", "size": symbols}, f"{symbols} subwords: {size / 1e6:.0f} MB of text", symbols, size / 3.5
    )


def _width(size: int, device: str, minutes: float) -> tuple[int, str]:
    if size < TINY:
        return 256, f"a small LSTM, 256 wide: {size / 1e3:.0f} kB is little text"
    if device == "cuda":
        return 1024, "an LSTM 1024 wide: there is a GPU"
    width = 384 if minutes < SHORT else 512 if minutes < 2 * SHORT else 640
    return width, f"an LSTM {width} wide: about right for {minutes:g} min on a CPU"


def _rows(tokens: float, device: str) -> int:
    """As many rows as leave enough steps, a power of two."""
    most = 128 if device == "cuda" else 32
    rows = 8
    while rows < most and tokens / (2 * rows * CHUNK) >= UPDATES:
        rows *= 2
    return rows
