"""The command that shows what a model looks at: `look`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foresay.cli.app import (
    Device,
    Force,
    Json,
    RunArgument,
    Trust,
    app,
    check_free,
    load_run,
    say,
    show,
    show_json,
    told,
)
from foresay.errors import UserError


@app.command()
def look(
    run: RunArgument,
    target: Annotated[str | None, typer.Argument(help="The target; by default what the model writes.")] = None,
    pair: Annotated[
        str | None, typer.Option(metavar="SOURCE", help="The source, of a sequence-to-sequence run.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The picture, .svg or .png; by default RUN/alignment.svg.")] = None,
    force: Force = False,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """Draw which places of a source each written symbol looked at: --pair SOURCE [TARGET]."""
    from foresay.study import alignment

    loaded = load_run(run, device, trust)
    if not loaded.model.conditional:
        raise UserError(f"{run} writes from no source; allowed: a run of task seq2seq, such as foresay train dates")
    if not pair:
        raise UserError("no source is given; give one: foresay look RUN --pair SOURCE [TARGET]")
    place = None
    if out is not None or not as_json:
        place = alignment.check_ending(out or run / "alignment.svg")
        check_free(place, force or out is None)
    with told():
        found = loaded.align(pair, target)  # pyright: ignore[reportAttributeAccessIssue]
    if place is not None:
        alignment.draw(found, place)
        say(f"{place} is written")
    if as_json:
        show_json(found.as_dict())
        return
    for symbol, row in zip(found.target, found.weights, strict=True):
        most = max(range(len(row)), key=row.__getitem__)
        show(f"{alignment.shown([symbol])[0]}\t{alignment.shown([found.source[most]])[0]}\t{row[most]:.3f}")
