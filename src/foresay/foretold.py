"""What a finished run on series shows: forecasts of held-out steps (forecast.png), or piano rolls (samples.png)."""

from __future__ import annotations

from typing import Any

import numpy as np

from foresay.data.prepare import Prepared
from foresay.data.series_shards import SeriesShards
from foresay.forecast import SeriesRun
from foresay.train.fan import PANELS, Fan, draw_fans, draw_films, draw_rolls
from foresay.train.rolling import origins

FORECAST, SAMPLES = "forecast.png", "samples.png"
ROLLS, STEPS = 4, 64
FILMS, BEGUN = 2, 4  # films, and how many of their frames are given


def write_forecasts(run: SeriesRun, prepared: Prepared) -> dict[str, Any]:
    """Draws the picture; the figures of forecasts on the validation series, where they can be told."""
    if run.form.music is not None:
        drawn = list(run.draw(ROLLS, steps=STEPS))
        draw_rolls(run.folder / SAMPLES, drawn, run.form.music.first, f"{run.folder.name}: drawn")
        return {}
    shards: Any = prepared.valid
    if run.form.grid is not None and shards is not None:
        draw_films(run.folder / FORECAST, films_of(run, shards), f"{run.folder.name}: held-out films, gone on with")
    rolled = None if shards is None else run.roll(shards)
    if rolled is None:
        return {}
    assert shards is not None
    if run.form.grid is None:
        draw_fans(run.folder / FORECAST, fans_of(run, shards), f"{run.folder.name}: held-out steps, forecast")
    return rolled.as_dict()


def films_of(run: SeriesRun, shards: SeriesShards) -> list[tuple[str, np.ndarray]]:
    """The first two films: what came, and how the model goes on behind their first frames."""
    assert run.form.grid is not None
    found = []
    for number in range(min(FILMS, shards.documents)):
        values = shards.series(number).copy()
        begun = max(min(BEGUN, len(values) - 1), 1)
        drawn = run.draw(1, steps=max(len(values) - begun, 1), begun=values[:begun])[0]
        for name, film in (("came", values), (f"drawn from frame {begun + 1} on", drawn)):
            found.append((f"{number + 1}, {name}", film.reshape(-1, *run.form.grid)))
    return found


def fans_of(run: SeriesRun, shards: SeriesShards) -> list[Fan]:
    """The first forecast of some series with what came, a panel a column."""
    first: dict[int, tuple[int, int]] = {}
    for number, at, steps in origins(shards, run.model.horizon):
        first.setdefault(number, (at, steps))
    found = []
    for number, (at, steps) in first.items():
        values = shards.series(number)
        drawn = run.forecast(values[:at].copy(), steps=run.model.horizon).paths[0]
        for column, name in enumerate(run.form.columns):
            named = name if len(first) == 1 else f"{shards.names[number]}: {name}"
            found.append(Fan(named, values[:at, column], drawn[..., column], values[at : at + steps, column]))
            if len(found) == PANELS:
                return found
    return found
