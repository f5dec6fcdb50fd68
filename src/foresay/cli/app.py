"""What every command shares: the app, the options that mean the same everywhere, printing and loading."""

from __future__ import annotations

import glob
import json
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foresay.errors import UserError

if TYPE_CHECKING:
    from foresay.run import Run

app = typer.Typer(
    name="foresay",
    help="Train, compare and use sequence models on your own data.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

_HALF = re.compile("[\ud800-\udfff]")
PSEUDO = "pseudo: the sum of -log P of each token given all others, for the model sees both sides"
RunArgument = Annotated[
    Path, typer.Argument(metavar="RUN", help="A run folder, as `foresay train` writes it; or hub:OWNER/NAME.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Device = Annotated[str | None, typer.Option(help="cpu or cuda; by default the GPU when there is one.")]
Encoding = Annotated[str | None, typer.Option(help="Of the text files, such as latin-1; by default utf-8.")]
Trust = Annotated[bool, typer.Option("--trust", help="Run the code that RUN brings along, if it does.")]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that exists.")]
Words = Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Settings, e.g. encoder.size=512")]


def divided(words: list[str], encoding: str | None = None) -> tuple[str | list[str], list[str]]:
    """`a.txt b.txt key=value` -> the source, or the list of them, and the settings.

    A `-` is what comes through the pipe; a word with a = in it that names a file is a file; texts after a recipe are
    what it is trained on.
    """
    from foresay.recipe import is_recipe

    settings = [word for word in words if _is_setting(word)]
    sources = [_piped() if word == "-" else word for word in words if word not in settings]
    settings = [f"data.train={json.dumps(_piped())}" if word == "data.train=-" else word for word in settings]
    texts = sources[1:] if sources and is_recipe(sources[0]) else sources
    if texts and any(word.startswith("data.train=") for word in settings):
        raise UserError(f"{texts[0]} and data.train are two texts; give one of them")
    if encoding is not None:
        settings.append(f"data.encoding={json.dumps(encoding)}")
    if len(texts) < len(sources) and texts:
        place = texts[0] if len(texts) == 1 else texts
        sources, settings = sources[:1], [f"data.train={json.dumps(place)}", *settings]
    return str(sources[0]) if len(sources) == 1 else sources, settings


def _is_setting(word: str) -> bool:
    """Whether a word is meant as `key=value`, also when its value was forgotten (encoder.size)."""
    if os.path.exists(word) or (glob.has_magic(word) and glob.glob(word, recursive=True)):  # noqa: PTH110, PTH207
        return False
    return "=" in word or bool(re.fullmatch(r"(tokens|embedding|encoder|output|(train|data)\.[a-z]+)\.[a-z_]+", word))


def _piped() -> str:
    from foresay.data.piped import kept

    return str(kept(sys.stdin.buffer))


def load_run(run: Path, device: str | None, trust: bool) -> Run:
    from foresay.loading import load

    with told():
        return load(run, device, trust=trust)


def check_free(path: Path, force: bool, option: str = "--out", *, anywhere: bool = False) -> Path:
    """A place to write to, refused where what lies there would be lost, or (unless `anywhere`) its folder is not there.

    `anywhere` is for what makes its folders itself, and for a place beside a run, that is told of when it is missing.
    """
    taken = any(path.iterdir()) if path.is_dir() else path.exists()
    if taken and not force:
        raise UserError(f"{path} exists; allowed: a new place: give another {option}, or --force to write over it")
    if not anywhere and not path.parent.is_dir():
        raise UserError(f"{path.parent} is no folder; make it first, or give another {option}")
    return path


@contextmanager
def told() -> Iterator[None]:
    """What Python warns of is said in one line each."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", UserWarning)
        yield
    for text in dict.fromkeys(str(one.message) for one in found):
        say(f"warning: {text}")


def show(text: str) -> None:
    """What a broken byte of the command line became (half a character) has no UTF-8: U+FFFD in its place."""
    sys.stdout.write(_HALF.sub("\ufffd", text) + "\n")
    sys.stdout.flush()


def say(text: str) -> None:
    sys.stderr.write(text + "\n")


def show_json(value: Any, *, compact: bool = False) -> None:
    """JSON has no NaN and no infinity: null in their place."""
    indent = None if compact else 1
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    except ValueError:
        from foresay.train.progress import without_nan  # with torch, which most commands on words do without

        text = json.dumps(without_nan(value), ensure_ascii=False, indent=indent)
    show(text)


def rich(thing: Any) -> None:
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else 120).print(thing, highlight=False)
