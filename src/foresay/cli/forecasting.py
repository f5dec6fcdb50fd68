"""What runs on series do from the command line: `forecast`, and their part of `score`, `draw` and `eval`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from foresay.cli.app import Device, Force, Json, RunArgument, Trust, app, check_free, load_run, say, show, show_json
from foresay.errors import UserError

QUANTILES = (0.1, 0.5, 0.9)
DRAWN = 4


@app.command()
def forecast(
    run: RunArgument,
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="Series to go on from; without it the run's own.")
    ] = None,
    steps: Annotated[int | None, typer.Option(help="How far; by default the run's horizon.")] = None,
    paths: Annotated[int, typer.Option(help="How many paths are drawn.")] = 200,
    quantile: Annotated[
        list[float] | None, typer.Option(help="Between 0 and 1; may be given again; by default 0.1, 0.5 and 0.9.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed, the same paths.")] = 1,
    out: Annotated[Path | None, typer.Option(metavar="FILE.csv", help="A table, in place of standard output.")] = None,
    picture: Annotated[Path | None, typer.Option(metavar="FILE.png", help="A fan of each series, drawn.")] = None,
    force: Force = False,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """Forecast how series go on: the mean and quantiles of many paths, a line a step."""
    loaded: Any = load_run(run, device, trust)
    if not hasattr(loaded, "forecast"):
        raise UserError(f"{run} is of no series; allowed: a run of task series, as foresay train sunspots makes one")
    for place, ending in ((out, ".csv"), (picture, ".png")):
        if place is not None and place.suffix != ending:
            raise UserError(f"{place}; allowed: a name that ends in {ending}")
        if place is not None:
            check_free(place, force, "--out" if ending == ".csv" else "--picture")
    wanted = _checked(quantile)
    with progress("drawing paths") as tell:
        found = loaded.forecast(file, steps=steps, number=paths, seed=seed, tell=tell)
    about = found.as_dict(wanted)
    if picture is not None:
        _draw(picture, found, run.name, wanted)
        say(f"{picture} is written")
    if as_json:
        show_json(about)
        return
    table = _table(found, wanted)
    if out is None:
        show(table.rstrip("\n"))
    else:
        from foresay.train.aside import write_file

        write_file(out, table.encode())
        say(f"{out} is written")


def _checked(quantiles: Sequence[float] | None) -> tuple[float, ...]:
    """Those that were asked for, refused before anything is drawn where there are none such."""
    from foresay.forecast import Quantile
    from foresay.parts import fits

    return tuple(float(fits(Quantile, share, "quantile")) for share in quantiles or QUANTILES)


@contextmanager
def progress(what: str) -> Iterator[Any]:
    """Tells the share done every ten seconds, of what takes as long."""
    from foresay.train.progress import PlainWatch

    watch = PlainWatch()
    try:
        with watch.stage(what) as tell:
            yield tell
    finally:
        watch.close()


def number_text(value: float) -> str:
    """A number of float32 in as few digits as tell it from all others."""
    import numpy as np  # which most commands on words do without

    number = np.float32(value)
    if number == 0 or 1e-4 <= abs(number) < 1e16:
        return np.format_float_positional(number, trim="-")
    return str(number)


def _table(found: Any, quantiles: Sequence[float]) -> str:
    """A line for each series, step and column."""
    held = io.StringIO()
    writer = csv.writer(held, lineterminator="\n")
    writer.writerow(["series", "step", "column", "mean", *(f"{share:g}" for share in quantiles)])
    mean, each = found.mean, [found.quantile(share) for share in quantiles]
    for number, name in enumerate(found.names):
        for step in range(mean.shape[1]):
            for column, title in enumerate(found.columns):
                values = [one[number, step, column] for one in (mean, *each)]
                writer.writerow([name, step + 1, title, *map(number_text, values)])
    return held.getvalue()


def _draw(picture: Path, found: Any, title: str, quantiles: Sequence[float]) -> None:
    from foresay.train.fan import Fan, draw_fans

    fans = [
        Fan(column if len(found.names) == 1 else f"{name}: {column}", history[:, place], drawn[..., place])
        for name, history, drawn in zip(found.names, found.histories, found.paths, strict=True)
        for place, column in enumerate(found.columns)
    ]
    draw_fans(picture, fans, f"{title}: forecast", quantiles)


def score_series(run: Any, files: Sequence[str], *, steps: bool, as_json: bool) -> None:
    """-log p of each series, in the mean of its steps, and with `steps` of every step."""
    for file in files:
        for (name, values), nats in zip(run.series(file), run.nats(file), strict=True):
            if as_json:
                own = {"steps": nats.tolist()} if steps else {}
                show_json({"series": name, "nats_per_step": float(nats.mean()), **own}, compact=True)
                continue
            show(f"{nats.mean():.4f}\t{name}")
            for step, (own, each) in enumerate(zip(values, nats, strict=True), 1) if steps else ():
                shown = " ".join(map(number_text, own[:8])) + (" ..." if len(own) > 8 else "")
                show(f"  {each:8.4f}  {step}  {shown}")


def draw_series(
    run: Any,
    place: Path,
    begun: str | None,
    number: int | None,
    *,
    steps: int,
    seed: int,
    temperature: float,
    as_json: bool,
) -> None:
    """New series as .csv, or music as .mid with a picture, into a folder."""
    from foresay.train.fan import draw_films, draw_rolls

    if place.suffix:
        raise UserError(f"--out {place}; allowed: the name of a folder")
    how: dict[str, Any] = {"steps": steps, "seed": seed, "temperature": temperature, "begun": begun}
    with progress("drawing series") as tell:
        drawn = run.draw(number or DRAWN, **how, tell=tell)
    place.mkdir(exist_ok=True)
    files = [_write(place / f"{one:02d}", values, run.form) for one, values in enumerate(drawn, 1)]
    if run.form.music is not None:
        draw_rolls(place / "rolls.png", list(drawn), run.form.music.first, f"{run.folder.name}: drawn")
    if run.form.grid is not None:
        films = [(str(one), values.reshape(-1, *run.form.grid)) for one, values in enumerate(drawn, 1)]
        draw_films(place / "films.png", films, f"{run.folder.name}: drawn")
    if as_json:
        show_json([{"number": one, "file": str(file)} for one, file in enumerate(files, 1)])
    else:
        say(f"{place} is written")


def _write(place: Path, values: Any, form: Any) -> Path:
    from foresay.data.midi import midi_bytes
    from foresay.train.aside import write_file

    if form.music is not None:
        place, content = place.with_suffix(".mid"), midi_bytes(values, form.music.seconds, form.music.first)
    else:
        held = io.StringIO()
        writer = csv.writer(held, lineterminator="\n")
        writer.writerows([form.columns, *(map(number_text, step) for step in values.tolist())])
        place, content = place.with_suffix(".csv"), held.getvalue().encode()
    write_file(place, content)
    return place


def show_series(found: Any) -> None:
    """What `eval` says of them."""
    about = found.as_dict()
    low, high = found.interval
    lines = {"nats per step": f"{found.loss:.4f}  (95 % interval {low:.4f} – {high:.4f})"}
    if found.f1 is not None:
        lines["F1 of ones"] = f"{100 * found.f1:.2f} %"
    else:
        lines["mean error"] = f"{found.error:.4g}  (of the step before {found.naive_error:.4g})"
    if found.rolled is not None:
        where = f"over {about['horizon']} steps from {about['origins']} points"
        lines["CRPS"] = f"{about['crps']:.4g}  (of the season before {about['naive_crps']:.4g}; {where})"
        lines |= {} if about["mase"] is None else {"MASE": f"{about['mase']:.4g}"}
        lines["covered"] = f"{100 * about['covered_80']:.1f} % came within the middle 80 % of the paths"
    lines["steps"] = f"{found.tokens:,} of {found.of:,}, of {found.series:,} series"
    wide = max(map(len, lines))
    show("\n".join(f"{name:<{wide}}  {value}" for name, value in lines.items()))
