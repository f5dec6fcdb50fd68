"""Runs together and elsewhere: `mix`, `export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foresay.cli.app import Device, Json, RunArgument, Trust, app, load_run, say, show, show_json
from foresay.errors import UserError


@app.command()
def mix(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN RUN...", help="Runs of one vocabulary.")],
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """How well runs do together: weights fitted by EM on the first one's validation text, measured on its test text."""
    if len(runs) < 2:
        raise UserError("one run is no mixture; give two or more")
    from foresay.study.mix import mix as mixed

    found = mixed([load_run(run, device, trust) for run in runs])
    if as_json:
        show_json(found.as_dict())
        return
    for name, weight, alone in zip(found.names, found.weights, found.alone, strict=True):
        show(f"{weight:.4f}  perplexity {alone:10.3f}  {name}")
    show(f"together perplexity {found.together:10.3f}  on {found.tokens:,} tokens")


@app.command()
def export(
    run: RunArgument,
    to: Annotated[str, typer.Option(help="arpa: n-grams, as KenLM and SRILM read them.")],
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="By default RUN.arpa; .gz packs it.")] = None,
    trust: Trust = False,
) -> None:
    """A run as a file of other tools."""
    if to != "arpa":
        raise UserError(f"--to {to}; allowed: arpa")
    from foresay.export import arpa

    path = out if out is not None else Path(f"{run.name}.arpa")
    arpa.write(load_run(run, "cpu", trust), path)
    say(f"{path} is written")
