"""What runs on pictures, sounds and series do for clients: they draw, and forecast.

A picture comes as PNG and a sound as WAV, in base64; a series as its numbers, music as a MIDI file besides. Drawing is
done in one call between two steps of the engine, so it is bounded: the levels of a picture, the samples of a sound and
the steps of a series as the tokens of a text (`foresay serve --length`), their number as texts of a prompt, and the
numbers of all paths of a series together.
"""

from __future__ import annotations

import base64
import math
import secrets
from typing import Any

import numpy as np
from fastapi import FastAPI, Request

from foresay.data.midi import midi_bytes
from foresay.data.wav import wav_bytes
from foresay.errors import UserError, counted
from foresay.forecast import SeriesRun
from foresay.media import MediaRun
from foresay.serve import bodies
from foresay.serve.calls import done, noted, said, watched
from foresay.serve.engine import Engine, Limits
from foresay.serve.served import Shelf
from foresay.train.progress import without_nan
from foresay.train.sheet import png_bytes

STEPS = 64  # of a series, where nothing is said
SECONDS = 1.0  # of a sound, at most, where nothing is said
NUMBERS = 4_000_000  # of all paths together


def add_drawing(app: FastAPI, shelf: Shelf, engine: Engine) -> None:
    """Drawing and forecasting."""

    @app.post("/v1/draw", responses=bodies.FAULTS)
    async def draw(body: bodies.DrawBody, request: Request) -> dict[str, Any]:
        """New pictures as PNG, sounds as WAV, series as numbers; music as MIDI besides."""
        run = shelf.find(body.model).must("draw")
        seed = secrets.randbelow(1 << 31) if body.seed is None else body.seed
        more = {"number": body.number, "temperature": body.temperature, "seed": seed}
        how = of_series(run, body, engine.limits) if isinstance(run, SeriesRun) else of_media(run, body, engine.limits)

        def drawn() -> list[dict[str, Any]]:
            return [entry(run, one) for one in run.draw(**how, **more)]

        data, notes = await watched(request, done(engine, lambda: noted(drawn)))
        return {"object": "list", "model": body.model, "seed": seed, "data": data} | said(notes)

    @app.post("/v1/forecast", responses=bodies.FAULTS)
    async def forecast(body: bodies.ForecastBody, request: Request) -> dict[str, Any]:
        """How a series goes on: the mean and quantiles of many paths, a list of the run's columns for each step."""
        run = shelf.find(body.model).must("forecast")
        history = read(body.input, run)
        steps = run.model.horizon if body.steps is None else body.steps
        check_steps(steps, body.paths, run.form.width, engine.limits, "paths")
        how = {"steps": steps, "number": body.paths, "temperature": body.temperature, "seed": body.seed}

        def foretold() -> dict[str, Any]:
            return run.forecast(history, **how).as_dict(body.quantiles)

        found, notes = await watched(request, done(engine, lambda: noted(foretold)))
        data = [{"mean": one["mean"], "quantiles": one["quantiles"]} for one in found["series"]]
        about = {"columns": found["columns"], "paths": found["paths"]}
        return {"object": "list", "model": body.model} | about | {"data": without_nan(data)} | said(notes)


def of_media(run: MediaRun, body: bodies.DrawBody, limits: Limits) -> dict[str, Any]:
    """Settings of pictures or sounds, within what is allowed."""
    form, most = run.form, limits.length
    if body.steps is not None:
        raise UserError(f"steps={body.steps} is for series, and {body.model} draws {form.told()}; leave it out")
    check_number(body.number, limits)
    if form.size:
        if form.size > most:
            size = f"{body.model} draws {form.told()}, {form.size:,} levels each"
            raise UserError(f"{size}; allowed here: {most:,}; foresay serve --length allows more")
        return {"label": body.label} | ({} if body.seconds is None else {"seconds": body.seconds})
    seconds = min(SECONDS, most / form.rate) if body.seconds is None else body.seconds
    if seconds * form.rate > most:
        allowed = f"allowed here: {most / form.rate:g} at most, {most:,} samples of {form.rate:,} Hz"
        raise UserError(f"seconds={seconds:g}; {allowed}")
    return {"label": body.label, "seconds": seconds}


def of_series(run: SeriesRun, body: bodies.DrawBody, limits: Limits) -> dict[str, Any]:
    """Settings of series, within what is allowed."""
    for name in ("label", "seconds"):
        if getattr(body, name) is not None:
            raise UserError(f"{name}={getattr(body, name)!r}, and {body.model} draws series of numbers; leave it out")
    steps = STEPS if body.steps is None else body.steps
    check_number(body.number, limits)
    check_steps(steps, body.number, run.form.width, limits, "number")
    return {"steps": steps}


def check_number(number: int, limits: Limits) -> None:
    if number > limits.number:
        raise UserError(f"number={number}; allowed here: {limits.number} at most")


def check_steps(steps: int, paths: int, width: int, limits: Limits, name: str) -> None:
    if steps > limits.length:
        raise UserError(f"steps={steps}; allowed here: {limits.length:,} at most")
    if steps * paths * width > NUMBERS:
        given = f"steps={steps} with {name}={paths} of {counted(width, 'column')} are {steps * paths * width:,} numbers"
        raise UserError(f"{given}; allowed here: {NUMBERS:,} at most; ask for fewer")


def read(given: list[Any], run: SeriesRun) -> np.ndarray:
    """A series as the client wrote it -> (T, D), NaN where a number is not known."""
    rows = [one if isinstance(one, list) else [one] for one in given]
    width = run.form.width
    wrong = next((number for number, row in enumerate(rows, 1) if len(row) != width), None)
    if wrong is not None:
        has = counted(len(rows[wrong - 1]), "number")
        raise UserError(f"input has {has} in step {wrong}; allowed: {run.form.told()} in each")
    return np.array([[math.nan if one is None else one for one in row] for row in rows], np.float32)


def entry(run: MediaRun | SeriesRun, drawn: np.ndarray) -> dict[str, Any]:
    """What was drawn, for JSON."""
    if isinstance(run, MediaRun):
        if run.form.rate:
            return {"seconds": len(drawn) / run.form.rate, "wav": _text(wav_bytes(drawn, run.form.rate))}
        return {"rows": run.form.rows, "columns": run.form.columns, "png": _text(png_bytes(drawn))}
    found: dict[str, Any] = {"columns": list(run.form.columns), "values": without_nan(drawn.tolist())}
    if (music := run.form.music) is not None:
        found["midi"] = _text(midi_bytes(drawn, music.seconds, music.first))
    return found


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()
