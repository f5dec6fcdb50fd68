"""Commands that train: `train`, `rate`, `watch`, `compare`, `demo`."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from foresay.cli.app import (
    Device,
    Encoding,
    Force,
    Json,
    RunArgument,
    Trust,
    app,
    check_free,
    divided,
    rich,
    say,
    show,
    show_json,
)


@app.command()
def train(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RECIPE|RUN] [TEXT]... [KEY=VALUE]...",
            help="A recipe, then or instead texts: files, folders, patterns, tables, hub:NAME, -; with --resume a run.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The run folder; by default runs/NAME.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with RUN, or with the one in --out.")] = False,
    minutes: Annotated[float | None, typer.Option(help="Fit the steps to this time, by measuring the first.")] = None,
    encoding: Encoding = None,
    device: Device = None,
    trust: Trust = False,
    processes: Annotated[
        int | None, typer.Option(help="Train in so many processes of this machine: one for each GPU. Or use torchrun.")
    ] = None,
) -> None:
    """Train a recipe or a text into a run folder; a text needs no settings."""
    from foresay import start
    from foresay.train.folder import trust_for

    if processes is not None:
        from foresay.launch import launch

        if code := launch(processes, without_option(sys.argv[1:], "--processes")):
            raise SystemExit(code)
        return

    source, settings = divided(words or [], encoding)
    run = start.train(source or None, settings, out=out, resume=resume, minutes=minutes, device=device, trust=trust)
    if os.environ.get("RANK", "0") != "0":  # the leading process says it
        return
    use = _next(run, f"{shlex.quote(str(run.folder))}{trust_for(run.folder)}")
    say(f"{run.folder}: done; see {run.folder / 'README.md'}, or: foresay {use}")


def without_option(words: list[str], option: str) -> list[str]:
    """A command without an option and its value."""
    kept, skip = list[str](), False
    for word in words:
        if not skip and word != option and not word.startswith(f"{option}="):
            kept.append(word)
        skip = word == option and not skip
    return kept


def _next(run: Any, place: str) -> str:
    """A command that a run is good for."""
    media = hasattr(run, "form")
    if run.model.sequence:
        if not run.model.causal:
            return f"eval {place}"
        return f"draw {place}" if media else f"generate {place}{' SOURCE' if run.model.conditional else ''}"
    if run.model.reads == "speech":
        return f"predict {place} FILE.wav"
    if run.model.reads == "series":
        return f"{'draw' if run.form.music else 'forecast'} {place}"
    if run.model.reads in ("tags", "labels"):
        return f"predict {place} {'FILE' if media else 'TEXT'}"
    return f"words {place} near WORD"


@app.command()
def rate(
    words: Annotated[
        list[str],
        typer.Argument(metavar="[RECIPE] [TEXT]... [KEY=VALUE]...", help="What is to be trained, as for train."),
    ],
    out: Annotated[Path | None, typer.Option(help="The picture, a .png; by default runs/NAME-rate.png.")] = None,
    minutes: Annotated[float | None, typer.Option(help="As for train: the model of a text depends on it.")] = None,
    force: Force = False,
    as_json: Json = False,
    encoding: Encoding = None,
    device: Device = None,
) -> None:
    """Suggest a learning rate: raise it step by step on a model that is thrown away, and draw the loss."""
    from foresay.study.rate import find_rate

    if out is not None and not out.is_dir():
        check_free(out, force, anywhere=True)
    source, settings = divided(words, encoding)
    found = find_rate(source or None, settings, out=out, minutes=minutes, device=device)
    if as_json:
        show_json(found.as_dict())
        return
    if not found.clear:
        say("warning: the loss shows no clear valley; look at the picture before you trust the suggestion")
    low, high = found.valley
    show(f"suggested  {found.rate:g}, the middle of the valley from {low:.2g} to {high:.2g} on the logarithmic axis")
    show(f"picture    {found.picture}")
    given = {"--minutes": f"{minutes:g}" if minutes else None, "--encoding": encoding, "--device": device}
    kept = [word for word in words if word.partition("=")[0] not in ("train.lr", "train.optimizer.lr")]
    options = [word for option, value in given.items() if value is not None for word in (option, value)]
    show(f"use it     foresay train {shlex.join([*kept, f'train.lr={found.rate:g}', *options])}")


@app.command()
def watch(
    run: RunArgument,
    once: Annotated[bool, typer.Option("--once", help="One picture, as a pipe gets it.")] = False,
    as_json: Json = False,
) -> None:
    """Show a run while it trains: its curve, how far it is, how long it still takes."""
    from rich.console import Console

    from foresay.study import watch as study

    if as_json:
        show_json(study.Seen(run).look().as_dict())
        return
    console = Console()
    if once or not console.is_terminal:
        seen = study.Seen(run)
        rich(study.frame(seen, seen.look(), min(console.width, 120)))
    else:
        study.watch(run, console)


@app.command()
def compare(
    words: Annotated[
        list[str], typer.Argument(metavar="RECIPE... [KEY=VALUE]...", help="Recipes, then settings for all.")
    ],
    data: Annotated[
        str | None,
        typer.Option(help="A text, or a file of tags, labels or pairs as the recipes read; by default their own."),
    ] = None,
    minutes: Annotated[float | None, typer.Option(help="For the whole comparison; shared out equally.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where the runs go; by default runs/compare.")] = None,
    encoding: Encoding = None,
    as_json: Json = False,
    device: Device = None,
) -> None:
    """Train several models on the same tokens and split: one table, one plot."""
    from foresay.study import compare as study

    names = [word for word in words if "=" not in word]
    settings = [word for word in words if "=" in word]
    settings += [f"data.encoding={json.dumps(encoding)}"] if encoding is not None else []
    rows = study.compare(names, settings, data=data, minutes=minutes, out=out, device=device)
    if as_json:
        show_json(rows)
        return
    rich(study.table(rows))


@app.command()
def demo(
    out: Annotated[Path | None, typer.Option(help="Where the runs go; by default runs/demo.")] = None,
    minutes: Annotated[float, typer.Option(help="About how long, for the six language models together.")] = 2.2,
) -> None:
    """Three minutes, nothing to download: compares six language models, writes, shows surprise, rewrites dates."""
    from foresay.study import demo as study

    study.demo(out, minutes, rich)
