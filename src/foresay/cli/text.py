"""The command that shows how text becomes tokens: `tokens`."""

from __future__ import annotations

import re
import sys
from typing import Annotated

import typer

from foresay.cli.app import Json, Words, app, rich, show, show_json
from foresay.cli.lines import conversion
from foresay.errors import UserError

_SETTING = re.compile(r"(tokens|data|embedding|encoder|output|train)(\.[a-z0-9_]+)*=\S*")


@app.command()
def tokens(
    source: Annotated[
        str, typer.Argument(metavar="RUN|PREPARED|RECIPE|TEXTFILE", help="Run, prepared text, recipe or text file.")
    ],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The text to cut; - reads it from a pipe.")],
    settings: Words = None,
    as_json: Json = False,
) -> None:
    """Show a text step by step: normalised, segmented, stemmed, joined to phrases, as tokens with their ids."""
    from foresay.study import tokens as study

    if not settings and _SETTING.fullmatch(text):
        raise UserError(
            f"{text} is a setting, and no TEXT was given; put the text before it: foresay tokens {source} TEXT {text} "
            "(to cut these very characters, pipe them in and give -)"
        )
    tokeniser = study.tokens_of(source, settings or [])
    shown = study.show(tokeniser, _from_pipe() if text == "-" else text)
    if as_json:
        show_json(shown.as_dict())
    elif width := _coloured_width():
        rich(study.coloured(shown, width))
    else:
        show(study.plain(shown))


def _coloured_width() -> int | None:
    """The columns of a terminal that shows colours; without them (NO_COLOR, TERM=dumb) tokens would run together."""
    if not sys.stdout.isatty():
        return None
    from rich.console import Console

    console = Console()
    return console.width if console.color_system and not console.no_color else None


def _from_pipe() -> str:
    try:  # the bytes: where the locale is C.UTF-8, sys.stdin lets through what is no UTF-8
        return sys.stdin.buffer.read().decode("utf-8").replace("\r\n", "\n").removesuffix("\n")
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        how = conversion(error.object)
        raise UserError(f"standard input is not UTF-8: byte 0x{byte:02X}; convert it, as with {how}") from None
