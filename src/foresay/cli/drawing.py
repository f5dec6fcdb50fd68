"""The command that draws new pictures, or sounds, with a trained run: `draw`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foresay.cli.app import Device, Force, Json, RunArgument, Trust, app, check_free, load_run, say, show_json
from foresay.errors import UserError

if TYPE_CHECKING:
    from foresay.decode.sample import Decoder

ALL = "all"
NUMBER, EACH = 16, 8  # pictures, where nothing says how many: of one label or none, and of each of several
MOST = 40  # labels that are drawn for where none is named


@app.command()
def draw(
    run: RunArgument,
    begun: Annotated[
        str | None,
        typer.Argument(metavar="[FILE]", help="A picture, sound or series to go on from; its beginning is kept."),
    ] = None,
    label: Annotated[
        list[str] | None, typer.Option(help="What of; may be given again; all (as by default): a row for each.")
    ] = None,
    number: Annotated[
        int | None, typer.Option(help="How many; by default 16, or 8 for each of several labels.")
    ] = None,
    keep: Annotated[
        float | None, typer.Option(help="Rows of FILE that stay, by default half; of a sound seconds, by default all.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="Of sounds: the longest, by default 1.")] = None,
    steps: Annotated[int, typer.Option(help="Of series and music: how many.")] = 64,
    temperature: Annotated[float, typer.Option(help="0 is greedy, 1 as learnt, less is safer.")] = 1.0,
    top_k: Annotated[int, typer.Option(help="Only the k likeliest; 0: all.")] = 0,
    top_p: Annotated[float, typer.Option(help="Only the likeliest that hold this mass.")] = 1.0,
    min_p: Annotated[float, typer.Option(help="Only those at least this share of the likeliest.")] = 0.0,
    seed: Annotated[int, typer.Option(help="The same seed, the same pictures; the second label has the next.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.png|FOLDER", help="By default RUN/drawn.png; of sounds RUN/drawn, or FILE.wav."),
    ] = None,
    force: Force = False,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """Draw new pictures, sounds, series or music, of a label or on from a given one: on one sheet or each by itself."""
    from foresay.study.drawn import write_drawn

    loaded: Any = load_run(run, device, trust)
    if not hasattr(loaded, "draw"):
        raise UserError(
            f"{run} draws nothing; allowed: a model of pictures, sounds or series, as foresay train pixelcnn makes one"
        )
    if loaded.model.reads == "series":
        from foresay.cli.forecasting import draw_series

        _refuse({"--label": label, "--keep": keep, "--seconds": seconds, "--top-k": top_k}, loaded)
        place = out if out is not None else run / "drawn"
        check_free(place, force)
        draw_series(loaded, place, begun, number, steps=steps, seed=seed, temperature=temperature, as_json=as_json)
        return
    place = out if out is not None else run / ("drawn" if loaded.form.rate else "drawn.png")
    labels = _labels(loaded, label or [ALL])
    count = number if number is not None else EACH if len(labels) > 1 else NUMBER
    _check_place(place, force, loaded.form.noun, count * len(labels))
    how = {"begun": begun, "keep": keep, "seconds": seconds}
    how["decoder"] = _decoder(temperature, {"top_k": top_k, "top_p": top_p, "min_p": min_p})
    drawn = _drawn(loaded, labels, count, seed, how)
    files = write_drawn(place, drawn, loaded.form)
    if as_json:
        _show_files(labels, count, files)
    else:
        say(f"{place} is written")


def _drawn(run: Any, labels: list[str | None], count: int, seed: int, how: dict[str, Any]) -> dict[str | None, Any]:
    """So many of each label; the second label has the next seed."""
    from foresay.cli.forecasting import progress

    drawn: dict[str | None, Any] = {}
    with progress("drawing") as tell:
        for own, name in enumerate(labels):
            told = lambda done, own=own: tell((own + done) / len(labels))  # noqa: E731 - the share of all labels
            drawn[name] = run.draw(count, label=name, seed=seed + own, **how, tell=told)
    return drawn


def _show_files(labels: list[str | None], count: int, files: list[Path]) -> None:
    """JSON of everything drawn and the file it is in; one file may hold all."""
    each = [{"label": name, "number": one + 1} for name in labels for one in range(count)]
    where = files if len(files) == len(each) else files * len(each)
    show_json([about | {"file": str(file)} for about, file in zip(each, where, strict=True)])


def _refuse(given: dict[str, Any], run: Any) -> None:
    """Refuses what is for pictures and sounds."""
    name = next((name for name, value in given.items() if value), None)
    if name is not None:
        raise UserError(f"{name} is for pictures and sounds, and {run.folder} is of {run.form.told()}; leave it out")


def _check_place(place: Path, force: bool, noun: str, number: int) -> None:
    """Refuses, before anything is drawn, what cannot be written to."""
    ending = "" if place.is_dir() else place.suffix.lower()
    if noun == "sound":
        if ending not in ("", ".wav"):
            raise UserError(f"--out {place}, and this run draws sounds; allowed: the name of a folder, or of one .wav")
        if ending and number != 1:
            raise UserError(f"--out {place} for {number:,} sounds; allowed: a folder, or one --label and --number 1")
    elif ending not in ("", ".png"):
        raise UserError(f"--out {place}; allowed: a name that ends in .png, or of a folder")
    check_free(place, force)


def _labels(run: Any, given: list[str]) -> list[str | None]:
    """What is drawn of: the run's own labels for `all`, each once; None where it knows none."""
    if given == [ALL] and not run.labels:
        return [None]
    if ALL in given and ALL not in run.labels:
        if len(run.labels) > MOST:
            raise UserError(f"{run.folder} knows {len(run.labels):,} labels; allowed: up to {MOST} at once: name some")
        return list(run.labels)
    for name in given:
        run.number_of(name)
    return list(dict.fromkeys(given))


def _decoder(temperature: float, filters: dict[str, Any]) -> Decoder:
    from foresay.decode.sample import Greedy
    from foresay.parts import make

    if temperature < 0:
        raise UserError(f"--temperature {temperature}; allowed: 0 (greedy) or more")
    given = next((name for name, value in filters.items() if value != (1.0 if name == "top_p" else 0)), None)
    if temperature == 0 and given:
        raise UserError(
            f"--{given.replace('_', '-')} with --temperature 0; it is for sampling: give a temperature above 0"
        )
    return Greedy() if temperature == 0 else make("decoder", {"kind": "sample", "temperature": temperature, **filters})
