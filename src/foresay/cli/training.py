"""Commands that train: `train`, `compare`, `demo`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from foresay.cli.app import Device, Json, Words, app, rich, say, show_json


@app.command()
def train(
    source: Annotated[
        str | None, typer.Argument(metavar="RECIPE|TEXT", help="Recipe, .yaml, text file or folder.")
    ] = None,
    settings: Words = None,
    out: Annotated[Path | None, typer.Option(help="The run folder; by default runs/NAME.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out, if there is one.")] = False,
    minutes: Annotated[float | None, typer.Option(help="Fit the steps to this time, by measuring the first.")] = None,
    device: Device = None,
) -> None:
    """Train a recipe or a text file into a run folder; a text file needs no settings."""
    from foresay import start

    if source is not None and "=" in source and not os.path.exists(source):  # noqa: PTH110 - no error for long text
        source, settings = None, [source, *(settings or [])]
    run = start.train(source, settings or [], out=out, resume=resume, minutes=minutes, device=device)
    say(f"{run.folder}: done; see {run.folder / 'README.md'}, or: foresay generate {run.folder}")


@app.command()
def compare(
    words: Annotated[
        list[str], typer.Argument(metavar="RECIPE... [KEY=VALUE]...", help="Recipes, then settings for all.")
    ],
    data: Annotated[str | None, typer.Option(help="A text file or folder; by default the recipes' own.")] = None,
    minutes: Annotated[float | None, typer.Option(help="For the whole comparison; shared out equally.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where the runs go; by default runs/compare.")] = None,
    as_json: Json = False,
    device: Device = None,
) -> None:
    """Train several models on the same tokens and split: one table, one plot."""
    from foresay.study import compare as study

    names = [word for word in words if "=" not in word]
    settings = [word for word in words if "=" in word]
    rows = study.compare(names, settings, data=data, minutes=minutes, out=out, device=device)
    if as_json:
        show_json(rows)
        return
    rich(study.table(rows))


@app.command()
def demo(
    out: Annotated[Path | None, typer.Option(help="Where the runs go; by default runs/demo.")] = None,
    minutes: Annotated[float, typer.Option(help="About how long, for all models together.")] = 2.2,
) -> None:
    """Two minutes, nothing to download: trains six models, compares them, writes, shows surprise."""
    from foresay.study import demo as study

    study.demo(out, minutes, rich)
