"""The command that shows how text becomes tokens: `tokens`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from foresay.cli.app import Json, Words, app, rich, show, show_json
from foresay.errors import UserError


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

    tokeniser = study.tokens_of(source, settings or [])
    shown = study.show(tokeniser, _from_pipe() if text == "-" else text)
    if as_json:
        show_json(shown.as_dict())
    elif sys.stdout.isatty():
        rich(study.coloured(shown))
    else:
        show(study.plain(shown))


def _from_pipe() -> str:
    try:
        return sys.stdin.read().removesuffix("\n")
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise UserError(
            f"standard input is not UTF-8: byte 0x{byte:02X}; convert it, as with iconv -f latin1 -t utf-8"
        ) from None
