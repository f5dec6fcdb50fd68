"""The command that judges a vocabulary: `vocabulary`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foresay.cli.app import Encoding, Force, Json, app, check_free, divided, rich, say, show_json


@app.command()
def vocabulary(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN|PREPARED|[RECIPE] [TEXT]... [KEY=VALUE]...",
            help="Run, prepared text, recipe, texts; - is a pipe.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="PICTURE", help="By default RUN/vocabulary.png or vocabulary.png.")
    ] = None,
    top: Annotated[int, typer.Option(help="How many symbols to name, most frequent and rarest.")] = 10,
    force: Force = False,
    encoding: Encoding = None,
    as_json: Json = False,
) -> None:
    """How well a vocabulary fits its text: coverage, unknowns, rare symbols, Zipf's law, hints, a picture."""
    from foresay.study.vocabulary import survey
    from foresay.study.vocabulary.table import table

    source, settings = divided(words, encoding)
    place = out if out is not None else survey.place_of(source)
    if not place.is_dir():
        check_free(place, force or (out is None and place.parent != Path()), anywhere=True)
    found = survey.vocabulary(source, settings, out=out, top=top)
    if as_json:
        show_json(found.as_dict())
    else:
        rich(table(found.facts, found.hints))
    say(f"the picture: {found.picture}")
