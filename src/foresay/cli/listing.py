"""What there is to choose from: `list`."""

from __future__ import annotations

from typing import Annotated

import typer

from foresay.cli.app import Json, app, show, show_json
from foresay.errors import UserError


@app.command("list")
def list_(
    what: Annotated[str, typer.Argument(metavar="parts|recipes|data")] = "parts",
    as_json: Json = False,
) -> None:
    """Every part with its settings, types and defaults; every recipe; every known data set."""
    from foresay.study import catalogue

    kinds = {"parts": catalogue.parts, "recipes": catalogue.recipes, "data": catalogue.data}
    if what not in kinds:
        raise UserError(f"{what!r} cannot be listed; allowed: {', '.join(kinds)}")
    entries = kinds[what]()
    if as_json:
        show_json(entries)
    else:
        show(catalogue.spelt(entries))
