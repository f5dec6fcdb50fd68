"""What every command shares: the app, the options that mean the same everywhere, printing and loading."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, as `foresay train` writes it.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Device = Annotated[str | None, typer.Option(help="cpu or cuda; by default the GPU when there is one.")]
Words = Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Settings, e.g. encoder.size=512")]


def load_run(run: Path, device: str | None) -> Run:
    from foresay.run import load

    return load(run, device)


def show(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def say(text: str) -> None:
    sys.stderr.write(text + "\n")


def show_json(value: Any, *, compact: bool = False) -> None:
    show(json.dumps(value, ensure_ascii=False, indent=None if compact else 1))


def rich(thing: Any) -> None:
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else 120).print(thing, highlight=False)
