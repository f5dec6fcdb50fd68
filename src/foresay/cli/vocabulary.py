"""The command that judges a vocabulary: `vocabulary`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foresay.cli.app import Json, Words, app, rich, say, show_json


@app.command()
def vocabulary(
    source: Annotated[
        str,
        typer.Argument(metavar="RUN|PREPARED|RECIPE|TEXT", help="Run, prepared text, recipe, text file or folder."),
    ],
    settings: Words = None,
    out: Annotated[
        Path | None, typer.Option(metavar="PICTURE", help="By default RUN/vocabulary.png or vocabulary.png.")
    ] = None,
    top: Annotated[int, typer.Option(help="How many symbols to name, most frequent and rarest.")] = 10,
    as_json: Json = False,
) -> None:
    """How well a vocabulary fits its text: coverage, unknowns, rare symbols, Zipf's law, hints, a picture."""
    from foresay.study.vocabulary import survey
    from foresay.study.vocabulary.table import table

    found = survey.vocabulary(source, settings or [], out=out, top=top)
    if as_json:
        show_json(found.as_dict())
    else:
        rich(table(found.facts, found.hints))
    say(f"the picture: {found.picture}")
