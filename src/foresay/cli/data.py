"""Commands on data: `prepare`."""

from __future__ import annotations

from typing import Annotated

import typer

from foresay.cli.app import Encoding, Json, app, divided, say, show, show_json
from foresay.errors import counted


@app.command()
def prepare(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[RECIPE] [TEXT]... [KEY=VALUE]...",
            help="Texts: files, folders, patterns, tables, hub:NAME, - for a pipe; or a recipe, with texts or its own.",
        ),
    ],
    encoding: Encoding = None,
    as_json: Json = False,
    ray: Annotated[bool, typer.Option("--ray", help="Encode on the machines of a Ray cluster (RAY_ADDRESS).")] = False,
) -> None:
    """Turn text into token shards on all cores, once; killed, it goes on where it was."""
    from foresay.ready import prepare, summary

    source, settings = divided(words, encoding)
    prepared = prepare(source, settings, ray=ray)
    found = summary(prepared)
    if as_json:
        show_json(found)
        return
    for note in prepared.notes:
        say(note)
    show(f"{found['folder']}: {found['symbols']:,} symbols ({found['tokens']['kind']})")
    for name, one in found["parts"].items():
        documents = counted(one["documents"], "document")
        size = f"{one['tokens']:,} tokens, {documents}, {one['bytes'] / 1e6:,.2f} MB"
        show(f"  {name:<6} {size}, {one['bytes'] / one['tokens']:.2f} bytes a token")
