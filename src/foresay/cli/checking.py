"""The command that checks a cell against its contract: `check`."""

from __future__ import annotations

from typing import Annotated

import typer

from foresay.cli.app import Json, Words, app, show, show_json


@app.command()
def check(
    cell: Annotated[str, typer.Argument(metavar="FILE.py:CLASS|CELL", help="A cell of your own, or a built-in one.")],
    settings: Words = None,
    as_json: Json = False,
) -> None:
    """Check a recurrent cell: shapes, padding, causality, chunks, gradients, fused against plain, speed.

    Exit code 1 when a check fails.
    """
    from foresay.study import check as study

    found = study.check(cell, settings or [])
    if as_json:
        show_json(study.as_dict(cell, found))
    else:
        for one in found:
            show(one.as_line())
    if not study.passed(found):
        raise typer.Exit(1)
